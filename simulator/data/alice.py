"""Alice, the databases with her and without her, and the count of her that shows which it is.

Most adversaries of the library use them. By the convention of Roth 2011 (Lecture 4), database 1 of
a pair holds Alice, database 0 does not.
"""

from simulator.data.databases import Database
from simulator.data.queries import counting_query

EVERYONE = Database({"alice": 1, "bob": 1, "others": 398})
WITHOUT_ALICE = EVERYONE.remove("alice")
ALICE = counting_query("alice")
