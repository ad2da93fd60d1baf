"""What comes before anything else is imported: what is made by that stays, so nobody looks for
garbage in it.
"""

import gc

_OBJECTS_BETWEEN_COLLECTIONS = 50_000

gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
