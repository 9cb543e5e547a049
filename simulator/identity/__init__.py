"""What a value or a function is made of: equal or not, changed or not, installed or the user's."""
