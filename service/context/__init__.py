"""The product: packages of context, built for one model call inside an exact budget."""
