#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no name is left that a standard term has replaced.

docs/internals/decisions/0046-standard-terms-for-names.md has the reasons, and docs/glossary.md
defines the terms. The tool has a table for each of three kinds of old names:

  COINED   must be nowhere: not in code, comments, texts and names of files
  ENGINE   an ordinary word; must be no identifier in the code of src/ and include/
  PLACED   a word that has another meaning elsewhere; must be no identifier in the code of the
           folders or files that stand with it

KEPT lists the names that stay in spite of COINED. Each entry names the decision record that says
why, and the places that may use the name. An entry that no text needs is a finding.

Decision records keep the names of their day, as docs/internals/decisions/README.md says.
"""

import pathlib
import re
import sys

import policy

FOLDERS = ("src", "include", "tests", "lab", "bench", "tools", "models", "docs")
RECORDS = "docs/internals/decisions"
# The tables themselves, the decision records, and measured data.
SKIPPED = re.compile(
    rf"^(tools/check_names\.py$|{RECORDS}/|docs/results/)|\.(json|csv|svg|sum)$|Cargo\.lock$"
)
WORD = re.compile(r"[A-Za-z_]\w*")
LITERAL = re.compile(r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"', re.DOTALL)

COINED = {
    # queues and the biased lock
    "empty_hand": "flush_lifo_slot",
    "next_from_hand": "take_next",
    "hand_on": "try_put_in_lifo_slot (mailbox), transfer_and_notify (monitor)",
    "take_from_hand": "deliver_from_lifo_slot",
    "owner_lock": "biased_lock",
    "owner_section": "owner_guard",
    "wary": "contended",
    "wary_sections": "contended_sections",
    "local_queue": "run_queue",
    "inbox_": "pinned_queue_",
    "give_half": "take_half",
    "give_away": "share_half",
    "promote_newest_if_none_is_ready": "promote_newest_if_none_is_woken",
    "shared_queue": "injector",
    # single-thread mode and the platform layer
    "membership": "thread_registration",
    "join_company": "register_this_thread",
    "leave_company": "unregister_this_thread",
    "in_company": "shared",
    "enter_alone": "begin_exclusive",
    "leave_alone": "end_exclusive",
    "seek_solitude": "try_become_exclusive",
    "solitude": "exclusive mode",
    "unless_alone": "elidable",
    "hot_line": "worker_tls",
    "halt_point": "thread_suspender",
    "halt_all": "suspend_all_workers",
    "let_all_go": "resume_all_workers",
    "over_forks": "atfork",
    "held_over_forks": "atfork_lock",
    "watch_forks": "install_atfork_handlers",
    "per_process": "fork_safe_static",
    "jump_return": "return_thunk",
    "SENNIT_RETURNS_BY_JUMP": "SENNIT_RETURN_VIA_THUNK",
    "keep_return_thunk": "retain_return_thunk",
    "apart_from_next": "prevent_store_merging",
    "name_of_code": "symbolize",
    "this_task": "this_os_thread",
    "small_memory": "slab_cache",
    "hot_spare": "tls_spare_block",
    "keep_a_spare": "enable_tls_spare_block",
    "smallest_piece": "smallest_block",
    # idle path, spare workers, timers
    "standstill": "deadlock_detector",
    "set_harmless": "ignore_thread",
    "rehearse": "set_test_interval",
    "relief": "spare worker",
    "call_relief": "activate_spare",
    "crew_size": "worker_count_with_spares",
    "most_crew": "worker_capacity",
    "is_hired": "is_retained",
    "on_duty_": "spare_state",
    "stand_down": "deactivate",
    "send_back": "release_spare",
    "keep_spare": "context_cache::give",
    "max_spares": "max_cached_contexts",
    "spares_": "context_cache",
    "to_spares": "suspended_to_idle",
    "bed": "parker",
    "bed_": "untimed_park_epoch_",
    "in_bed": "parked",
    "leave_bed": "cancel_park",
    "look_outside": "poll_global_sources",
    "fair_turn": "global_poll_due",
    "fair_period": "global_poll_interval",
    "fair_at_": "global_poll_schedule::next_",
    "run_next": "run_next_task",
    "rob": "steal_tasks",
    "robs": "steals",
    "robbed": "tasks_stolen",
    "robbery": "a steal",
    "loot": "batch",
    "show_loot": "announce_stolen",
    "take_offer": "steal_from_pinned",
    "ask_to_publish": "request_share",
    "ask_all": "request_share_from_all",
    "adopt_orphan": "register_stealable",
    "forget_orphan": "unregister_stealable",
    "orphan": "suspended context with forks",
    "become_keeper": "try_become_leader",
    "begin_watch": "try_become_sentinel (idle path), add_watch (actors)",
    "about_now_ns": "cached_now_ns",
    # contexts and strands
    "local_home_": "local_affinity",
    "quick_home_": "fast_path_affinity",
    "had_best_run_here": "prefer_local",
    "after_switch": "post_switch_action",
    "leave_for": "switch_away",
    "leave_to": "switch_directly_to",
    "leave_unlocking": "suspend_and_unlock",
    "prepare_to_leave": "prepare_suspend",
    "seen_to_serve": "current_receiver_hint",
    "this_activity": "this_strand",
    "current_activity": "current_strand",
    "fiber_way": "migration_state",
    "be_at": "set_location",
    "fiber_extra": "fiber_cold_state",
    "side_stack": "coroutine_stack",
    "astray": "diverted_to",
    # policies
    "worth_sharing": "should_share",
    "brisk": "tasks_are_short",
    "only_talks": "is_message_bound",
    "met_another": "note_contended",
    "keep_together": "should_consolidate",
    "sightings": "progress_tracker",
    "gets_on": "made_progress",
    "gets_on_in_passing": "made_progress_fine",
    "takes_long": "runs_long_tasks",
    "go_on_behind": "reschedule_behind",
    "untaken_pieces": "max_unreceived_messages",
    "piece_clock": "message_cost_sampler",
    "take_long": "messages_are_slow",
    "turns_to_a_sample": "batches_per_sample",
    # actors
    "mail_trail": "prefetch_links",
    "look_ahead": "prefetch_ahead",
    "mail_list": "message_list",
    "noticed_": "wakeup_pending_",
    "brings_it": "carries_mailbox",
    "sent_back": "owner_only",
    "is_in_vain": "is_stale_wakeup",
    "tell_owner": "notify_owner",
    "begin_life": "begin_incarnation",
    "end_life": "end_incarnation",
    "skip_life": "skip_incarnation",
    "nascent": "under_construction",
    "newborn_keeper": "early_message_store",
    "keep_early_mail_by": "set_early_message_store",
    "handle_several": "run_long_batch",
    "take_from_another": "acquire_ownership_slow",
    "move_here": "pull_to_this_worker",
    "follow_sender": "migrate_to_sender",
    "turns_and_follow": "run_batches_and_migrate",
    "follows_one_in": "migration_odds",
    "room_made": "wake_senders",
    "uncount": "unreserve_room",
    "count_out": "release_room",
    "hang_on": "attach_to",
    "hung_timer": "attached_timer",
    # monitors
    "give_place_to": "push_urgent_behind",
    # public names
    "most_workers": "max_workers",
    "watchdog_threads": "max_spare_workers",
    "handed_over": "spares_activated",
    "taken_back": "spares_released",
    "begins_on": "initial_worker",
    "tell_urgently": "tell_urgent",
    "processors_of_node": "cpus_of_node",
}

ENGINE = {
    "activity": "strand",
    "ahead": "prefetch_offset, prefetch_hint",
    "apart": "no_store_merge",
    "aside": "inline_runs",
    "attention": "has_waiters",
    "branch": "shard",
    "chain": "run_hand_off_chain",
    "claimant": "entrant",
    "acceptance": "accept_request",
    "company": "single_thread_mode",
    "crew": "all workers",
    "crowd": "sender_waitlist",
    "crowded": "senders_waiting",
    "crowds": "sender_waitlists",
    "door": "monitor_ops",
    "exchanges": "direct_switches",
    "extra": "cold_state",
    "faces": "public headers",
    "fenced": "always_contended",
    "go_on": "extend_batch, advance, resume_acceptor",
    "go_to": "post_to",
    "ground": "platform layer",
    "halt": "thread_suspender",
    "hand": "lifo_slot",
    "hands": "active_worker_count",
    "hired": "retained",
    "home": "affinity",
    "in_hand": "lifo",
    "in_loop": "loop_runs",
    "injected": "injector",
    "is_ours": "belongs_to_this_process",
    "keeper": "leader",
    "lent": "in_blocking_pool",
    "life": "incarnation",
    "mail": "message_node",
    "offers": "has_soft_affinity",
    "outrun": "flood_detector",
    "outruns": "floods_receiver",
    "pace": "share_policy, chunk_sizer",
    "pass_to": "transfer_to, set_next_owner",
    "picture": "observation",
    "plain_": "fast_suspend_",
    "plain_read": "annotate_read",
    "plain_write": "annotate_write",
    "poll": "steal_requested",
    "pulse": "progress_counter",
    "ready_": "woken_",
    "resign": "release_lead",
    "ring": "wake-up of a parked worker",
    "serves": "current_receiver",
    "settle": "run_post_switch",
    "spin": "search",
    "standing": "mode",
    "stay": "pin_during_change",
    "stranger": "unregistered",
    "surroundings": "entry_fingerprint",
    "turns": "run_batches, queue_nodes",
    "waist": "core interface",
    "watched": "has_sentinel",
    "way": "migration",
}

ACTORS, CORE, MONITOR, SYS = (
    ("src/actors",),
    ("src/core",),
    ("src/monitor",),
    ("src/sys", "include/sennit/detail/sys"),
)
PLACED = {
    "admit": (ACTORS, "reserve_room"),
    "adopt": (CORE, "append_batch"),
    "alone": (SYS, "exclusive"),
    "arrive": (CORE, "on_switched_in"),
    "begin_on": (ACTORS, "set_initial_owner"),
    "claim": (("src/core/queues",), "try_lock_remote"),
    "disown": (ACTORS, "clear_owner"),
    "hold": (("src/core/policy",), "defer_sharing"),
    "home_": (CORE, "thread_context_"),
    "joined": (SYS, "this_thread_registered"),
    "let_go": (CORE, "flush_lifo_slot"),
    "movable": (CORE, "affinity_is_soft, migratable"),
    "news": (ACTORS + MONITOR, "down_message, pending_wakeup"),
    "notice": (ACTORS, "wakeup"),
    "overflow": (SYS, "stack_overflow"),
    "piece": (("src/core/memory",), "block"),
    "release": (("src/core/queues",), "unlock_remote"),
    "rest": (("src/core/worker", "src/core/idle"), "park_or_find_work"),
    "step": (("src/core/worker",), "run_one"),
    "take_over": (ACTORS, "acquire_ownership"),
    "tell": (CORE, "emit"),
    "turn": (ACTORS + MONITOR, "run_batch, queue_node"),
    "watcher": (CORE, "sentinel"),
}

# {name: (decision record, places that may use the name)}
KEPT = {
    "shared_queue": (
        "0046-standard-terms-for-names.md",
        ("src/core", "tests", "docs/internals/architecture.md"),
    ),
}


def words_of_code(text):
    """Yields (line number, identifier) of C++ code; comments and literals are left out."""
    text = policy.without_comments(text)
    text = LITERAL.sub(lambda literal: '""' + "\n" * literal.group(0).count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        for found in WORD.finditer(line):
            if not line[: found.start()].endswith("std::"):
                yield number, found.group(0)


def words_of_text(text):
    for number, line in enumerate(text.splitlines(), 1):
        for found in WORD.finditer(line):
            yield number, found.group(0)


def placed(name, places):
    return any(name == place or name.startswith(f"{place}/") for place in places)


def forbidden_in(name):
    """The tables for the code of a file: {old name: new name}."""
    if not name.startswith(("src/", "include/")):
        return {}
    here = {old: new for old, (places, new) in PLACED.items() if placed(name, places)}
    return {**ENGINE, **here}


def check_file(name, text, kept):
    """Yields the findings of one file; adds each needed entry of KEPT to `kept`."""

    def is_kept(old):
        allowed = old in KEPT and placed(name, KEPT[old][1])
        if allowed:
            kept.add((old, next(place for place in KEPT[old][1] if placed(name, (place,)))))
        return allowed

    engine = forbidden_in(name)
    for part in pathlib.PurePosixPath(name).parts:
        stem = part.split(".")[0]
        new = COINED.get(stem) or engine.get(stem)
        if new and not is_kept(stem):
            yield f"{name}: the name of the path: {stem} is now {new}"
    for number, word in words_of_text(text):
        if word in COINED and not is_kept(word):
            yield f"{name}:{number}: {word} is now {COINED[word]}"
    if engine and name.endswith(policy.CPP):
        for number, word in words_of_code(text):
            if word in engine:
                yield f"{name}:{number}: {word} is now {engine[word]}"


def check(root):
    findings, checked, kept = [], 0, set()
    for path in policy.project_files(root):
        name = path.relative_to(root).as_posix()
        if not name.startswith(tuple(f"{folder}/" for folder in FOLDERS)) or SKIPPED.search(name):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        checked += 1
        findings += check_file(name, text, kept)
    for old, (record, places) in KEPT.items():
        if not (root / RECORDS / record).is_file():
            findings.append(f"tools/check_names.py: {old}: there is no record {record}")
        findings += [
            f"tools/check_names.py: {place} does not use {old} any more: take it out of KEPT"
            for place in places
            if (old, place) not in kept
        ]
    return findings, checked


if __name__ == "__main__":
    policy.finish(
        "check_names", *check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else policy.ROOT)
    )
