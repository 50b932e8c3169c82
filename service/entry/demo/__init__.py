"""The worked example: a planning case and an order application, told through the HTTP interface."""
