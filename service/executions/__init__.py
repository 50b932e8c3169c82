"""One agent run: its contract, states, tasks, conversation, observations, effects, candidates and checks."""
