"""What a judging page consists of."""
