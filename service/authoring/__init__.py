"""What a candidate policy would do to what is kept and was decided, worked out before it counts."""
