from .views import Replay, View, replay

__all__ = ["Replay", "View", "replay"]
