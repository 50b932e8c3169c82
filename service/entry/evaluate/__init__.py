"""A user's own questions held against packages: what each context profile finds, and what that costs."""
