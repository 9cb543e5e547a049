from .views import (
    Replay as Replay,
    View as View,
    replay as replay,
)

__all__ = ["Replay", "View", "replay"]
