"""Turns off garbage collection before the other imports: their objects live until the end."""

import gc

_OBJECTS_BETWEEN_COLLECTIONS = 50_000

gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
