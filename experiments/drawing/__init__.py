"""What several figures draw alike."""
