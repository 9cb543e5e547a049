"""The lecture, executable: claims of the sources as checks, games beyond Algorithm 1, attacks."""
