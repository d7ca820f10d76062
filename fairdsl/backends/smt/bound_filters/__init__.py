"""What decides many boxes at once: bounds of all of them, and individuals drawn in all of them."""
