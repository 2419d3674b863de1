# SPDX-License-Identifier: Apache-2.0
"""The policies of the idle path that the model compares, oldest first."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Policy:
    name: str
    text: str  # in the page
    each_sleeper_pays: bool  # a barrier for each worker that parks, not for the last searcher only
    leaves_to_searcher: bool  # a post wakes no worker while one searches
    wakes_as_tree: bool  # a theft that leaves forks behind wakes a worker in any case
    searches_learn: bool  # shorter searches after long gaps; no barrier if all others are parked
    forces_in_batches: bool  # one barrier for up to 16 owners, not one for each
    forces_all: bool  # a searcher forces all owners, not only until one has published
    eager: bool  # a forced owner publishes at each push for a while
    late: bool  # the last searcher may look 250 us later
    barrier_ends_exclusive: bool  # a worker that is woken by the only awake one makes a barrier


EACH = Policy(
    "each",
    "each worker that parks passes a barrier, each post wakes a worker (before record 0048)",
    each_sleeper_pays=True,
    leaves_to_searcher=False,
    wakes_as_tree=False,
    searches_learn=False,
    forces_in_batches=False,
    forces_all=True,
    eager=False,
    late=False,
    barrier_ends_exclusive=True,
)
LAST = replace(
    EACH,
    name="last",
    text="only the last searcher passes a barrier, and posts leave work to searchers (record 0048, "
    "as measured with 16 processors)",
    each_sleeper_pays=False,
    leaves_to_searcher=True,
    forces_all=False,
)
TREE = replace(
    LAST,
    name="tree",
    text="`last`, but workers wake each other as a tree where forks are left, and search for a "
    "shorter time after long gaps (the state before record 0082)",
    wakes_as_tree=True,
    searches_learn=True,
)
NOW = replace(
    TREE,
    name="now",
    text="`tree`, with one barrier for up to 16 owners, eager publication and late looks "
    "(record 0082)",
    forces_in_batches=True,
    eager=True,
    late=True,
    barrier_ends_exclusive=False,
)
ALL = (EACH, LAST, TREE, NOW)
