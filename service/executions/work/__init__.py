"""The work of a run: the tasks that exist and the log of steps, from which their standing is derived."""
