# SPDX-License-Identifier: Apache-2.0
"""Fibers, coroutines and tasks in gdb, in a running program and in a core file.

    (gdb) source tools/gdb/sennit.py
    (gdb) sennit fibers         lists the fibers that have a stack, with their state
    (gdb) sennit bt 1048577     shows where a fiber stands: its number, name or stack
    (gdb) sennit bt all         shows where all fibers and coroutines stand
    (gdb) sennit coroutines     lists the coroutines that have begun, suspended or entered
    (gdb) sennit bt parser      shows where a coroutine stands: its name, or side N
    (gdb) sennit tasks          lists the tasks that wait, and the functions that await each other

The script needs no debug information of the library. A table in the program gives the offsets of
the members (src/core/diagnostics/debug_layout.cpp).
"""

import struct

import gdb
import gdb.unwinder

MAGIC = b"sennit07"
FIELDS = (
    "runtime.contexts",
    "runtime.workers",
    "context.sp",
    "context.saved_strand",
    "context.own",
    "context.low",
    "context.high",
    "context.in_blocking_pool",
    "tls.context",
    "worker.os_thread",
    "worker.tls",
    "tls.strand",
    "strand.id",
    "strand.fiber",
    "strand.waits_for",
    "strand.outer",
    "fiber.cold_state",
    "fiber.made_at",
    "fiber.self",
    "wait.what",
    "wait.on",
    "side.other_sp",
    "side.low",
    "side.high",
    "side.body",
    "side.name",
    "side.next",
    "side.whose",
    "worker.tasks",
    "chunk.older",
    "chunk.size",
    "chunk.slots",
    "task.saved_strand",
    "task.what",
    "task.on",
    "task.innermost",
    "task.last_frame",
    "task.origin",
    "task_cold_state.made_at",
    "task_cold_state.name",
    "context.running_task",
    "activation.identity",
    "activation.below",
)
# For each processor: the names of the registers for pc, sp and frame pointer; the offsets of the
# saved pc and frame pointer on a stack that was left; and the bytes that the switch has put on that
# stack (src/sys/switch_*.hpp).
MACHINES = {
    "i386:x86-64": (("rip", "rsp", "rbp"), 0, 8, 16 + 128),
    "aarch64": (("pc", "sp", "x29"), 16, 0, 32),
}


def memory(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def word(address):
    return struct.unpack("<Q", memory(address, 8))[0]


def text(address, most=200):
    """The string at an address; empty for null."""
    result = b""
    while address and len(result) < most:
        byte = memory(address + len(result), 1)
        if byte == b"\0":
            break
        result += byte
    return result.decode(errors="replace")


def pointers(vector):
    """The elements of a std::vector of pointers."""
    begin, end = word(vector), word(vector + 8)
    return [word(at) for at in range(begin, end, 8)]


def machine():
    name = gdb.selected_frame().architecture().name()
    for known, numbers in MACHINES.items():
        if name.startswith(known):
            return numbers
    raise gdb.GdbError(f"sennit: no fibers on {name}")


class Layout:
    def __init__(self):
        try:
            root = int(gdb.parse_and_eval("(unsigned long)&sennit_debug_root"))
        except gdb.error:
            raise gdb.GdbError("sennit: this program has no Sennit in it") from None
        self.runtimes, table, self.side_stacks = word(root), word(root + 8), word(root + 16)
        if memory(table, len(MAGIC)) != MAGIC:
            raise gdb.GdbError(
                "sennit: this script and the program's library are of different versions"
            )
        numbers = struct.unpack(f"<{len(FIELDS)}Q", memory(table + len(MAGIC), 8 * len(FIELDS)))
        self.offset = dict(zip(FIELDS, numbers))

    def field(self, address, name):
        return address + self.offset[name]

    def get(self, address, name):
        return word(self.field(address, name))


def symbol_of(address):
    found = gdb.execute(f"info symbol {address:#x}", to_string=True)
    return found.split(" in section")[0].strip()


def made(address):
    return f", made at {address:#x} ({symbol_of(address)})" if address else ""


class Strand:
    """A strand, which is a fiber or another owner of a stack: its place and its description."""

    def __init__(self, layout, number, context, strand, state, thread=None):
        self.stack, self.context, self.state, self.thread = number, context, state, thread
        self.id = layout.get(strand, "strand.id")
        fiber = layout.get(strand, "strand.fiber")
        extra = layout.get(fiber, "fiber.cold_state") if fiber else 0
        self.name = text(extra, 23) if extra else ""  # the name is the first member
        self.made_at = layout.get(fiber, "fiber.made_at") if fiber else 0
        self.sp = layout.get(context, "context.sp")
        self.kind = "fiber" if fiber else "strand"

    def line(self):
        name = f" '{self.name}'" if self.name else ""
        number = self.id or "(no number yet)"
        line = f"{self.kind} {number}{name} [{self.state}] on stack {self.stack}"
        return line + made(self.made_at)


def thread_of(task):
    for thread in gdb.selected_inferior().threads():
        if task in thread.ptid:
            return thread
    return None


def strands_on(layout, context, innermost):
    """The innermost strand on a stack and the strands below it, without the worker's loop."""
    at, own = innermost, layout.field(context, "context.own")
    run = layout.get(context, "context.running_task")
    while at and at != own:
        yield at
        # A task that has just suspended has another word in the place of `outer`.
        if at == innermost and run and layout.get(run, "activation.identity") == at:
            at = layout.get(run, "activation.below")
            if at == innermost:  # The strand of the code that waits for the task.
                at = layout.get(at, "strand.outer")
        else:
            at = layout.get(at, "strand.outer")


def waits(layout, strand, context):
    if memory(layout.field(context, "context.in_blocking_pool"), 1) != b"\0":
        return "blocked in blocking"
    wait = layout.get(strand, "strand.waits_for")
    if not wait:
        return "ready"
    if wait & 1:
        return task_wait(layout, wait - 1)
    return wait_text(layout.get(wait, "wait.what"), layout.get(wait, "wait.on"))


def task_wait(layout, task):
    """The wait of a suspended task strand, which keeps the notes itself."""
    return wait_text(layout.get(task, "task.what"), layout.get(task, "task.on"))


def wait_text(what, on):
    return f"blocked in {text(what)}" + (f" at {on:#x}" if on else "")


def strands(layout):
    """All strands that have begun and have not ended. A fiber that waits in a queue to begin has no
    stack yet.
    """
    found = []
    for runtime in pointers(layout.runtimes) if layout.runtimes else []:
        running = {}
        for index, worker in enumerate(pointers(layout.field(runtime, "runtime.workers"))):
            if not worker:
                continue  # a spare worker that the watchdog never activated
            task = struct.unpack("<i", memory(layout.field(worker, "worker.os_thread"), 4))[0]
            tls = layout.get(worker, "worker.tls")
            if tls:
                running[layout.get(tls, "tls.context")] = (
                    index,
                    task,
                    layout.get(tls, "tls.strand"),
                )
        for number, context in enumerate(pointers(layout.field(runtime, "runtime.contexts"))):
            if context in running:
                index, task, innermost = running[context]
                state, thread = f"running on worker {index}", thread_of(task)
            else:
                innermost, state, thread = layout.get(context, "context.saved_strand"), None, None
            for depth, strand in enumerate(strands_on(layout, context, innermost)):
                now = (
                    "waits for the strand above it on its stack"
                    if depth
                    else state or waits(layout, strand, context)
                )
                found.append(Strand(layout, number, context, strand, now, thread))
    return found


class Side:
    """A body on a coroutine stack.

    While the body is suspended, the script knows the place of the body. Otherwise it knows the
    place of the fiber or thread that has entered the body. The body's own place is then that of the
    fiber or thread that runs it.
    """

    thread = None

    def __init__(self, layout, number, side):
        self.number = number
        self.of_fiber = memory(layout.field(side, "side.whose"), 1) != b"\0"
        self.sp = layout.get(side, "side.other_sp")
        low, high = layout.get(side, "side.low"), layout.get(side, "side.high")
        name = layout.get(side, "side.name")
        self.name = text(name, 23) if name else ""
        self.state = "suspended" if low <= self.sp < high else "entered"

    def line(self):
        kind, state = (
            ("fiber", "waits to begin, or to continue after its move")
            if self.of_fiber
            else ("coroutine", self.state)
        )
        name = f" '{self.name}'" if self.name else ""
        return f"{kind}{name} [{state}] on side {self.number}"


def sides(layout):
    """All bodies that have begun and not ended, numbered in the order in which their stacks were
    made.
    """
    found, at = [], word(layout.side_stacks)
    while at:
        found.append(at)
        at = layout.get(at, "side.next")
    return [
        Side(layout, number, side)
        for number, side in enumerate(reversed(found))
        if layout.get(side, "side.body")
    ]


def coroutines(layout):
    """The coroutines that have begun and not ended."""
    return [side for side in sides(layout) if not side.of_fiber]


def fibers_on_no_stack(layout):
    """Migratable fibers that no worker runs and that wait for nothing.

    The body of a waiting migratable fiber is shown as the body of a strand."""
    return [side for side in sides(layout) if side.of_fiber and side.state == "suspended"]


# Of the frame of a task: behind the functions that resume and destroy it lies the awaiting frame.
AWAITING = 16
MOST_FRAMES = 32


def begun_below(layout, runtime):
    """The strands below the tasks that workers run."""
    for worker in pointers(layout.field(runtime, "runtime.workers")):
        tls = layout.get(worker, "worker.tls") if worker else 0
        context = layout.get(tls, "tls.context") if tls else 0
        run = layout.get(context, "context.running_task") if context else 0
        if run:
            yield layout.get(run, "activation.below")


class Task:
    """A task strand that waits: its description, and the functions of its tasks. A worker that
    has begun to continue the task has put a strand of `running` in the place of the functions.
    """

    def __init__(self, layout, task, running):
        identity = layout.get(task, "task.saved_strand")
        self.id = layout.get(identity, "strand.id")
        origin = layout.get(task, "task.origin")
        self.name, self.made_at = "", origin >> 1
        if origin & 1 == 0:
            self.name = text(layout.field(origin, "task_cold_state.name"), 23)
            self.made_at = layout.get(origin, "task_cold_state.made_at")
        self.state = task_wait(layout, task)
        self.functions = []
        at, last = layout.get(task, "task.innermost"), layout.field(task, "task.last_frame")
        if at in running:
            self.state, at = "ready", 0
        while at and at != last and len(self.functions) < MOST_FRAMES:
            self.functions.append(word(at))
            at = word(at + AWAITING)

    def line(self):
        name = f" '{self.name}'" if self.name else ""
        number = self.id or "(no number yet)"
        return f"task {number}{name} [{self.state}]{made(self.made_at)}"


def task_addresses(layout, worker):
    """The strands in the table of a worker."""
    chunk = layout.get(worker, "worker.tasks")
    while chunk:
        first = layout.field(chunk, "chunk.slots")
        for held in struct.unpack_from(
            f"<{layout.get(chunk, 'chunk.size')}Q",
            memory(first, 8 * layout.get(chunk, "chunk.size")),
        ):
            if held and held % 2 == 0:
                yield held
        chunk = layout.get(chunk, "chunk.older")


def tasks(layout):
    """All tasks that wait without a stack. A strand that runs, or that has blocked in a plain call,
    has a stack, which `sennit fibers` lists.
    """
    return [
        Task(layout, task, running)
        for runtime in (pointers(layout.runtimes) if layout.runtimes else [])
        for running in [set(begun_below(layout, runtime))]
        for worker in pointers(layout.field(runtime, "runtime.workers"))
        if worker
        for task in task_addresses(layout, worker)
        if layout.get(layout.get(task, "task.saved_strand"), "strand.waits_for") == task + 1
    ]


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Detour(gdb.unwinder.Unwinder):
    """While the detour is enabled, the frames of a stack that was left follow the newest frame of
    the selected thread.
    """

    def __init__(self):
        super().__init__("sennit")
        self.enabled = False
        self.target = None
        self.start = None

    def __call__(self, frame):
        if self.target is None:
            return None
        (pc, sp, fp), pc_at, fp_at, bytes_on = machine_now
        here = int(frame.read_register(sp)) & (2**64 - 1)
        if here != self.start:
            return None
        saved = self.target
        address_type = frame.read_register(sp).type
        # The frame claims to lie where the other stack begins. gdb does not continue to a frame at
        # a lower address than the newest frame, and stacks lie anywhere.
        info = frame.create_unwind_info(
            FrameId(gdb.Value(saved).cast(address_type), frame.read_register(pc))
        )
        for register, value in (
            (pc, word(saved + pc_at)),
            (sp, saved + bytes_on),
            (fp, word(saved + fp_at)),
        ):
            info.add_saved_register(
                register, gdb.Value(value).cast(frame.read_register(register).type)
            )
        return info


detour = Detour()
machine_now = None
gdb.unwinder.register_unwinder(None, detour, replace=True)


def print_backtrace(strand):
    """Shows the frames of one strand."""
    global machine_now
    print(strand.line())
    if strand.state == "entered":
        print("    entered by:")
    if strand.state.startswith("running"):
        if strand.thread is None:
            print("    gdb does not know its thread")
            return
        before = gdb.selected_thread()
        strand.thread.switch()
        gdb.execute("backtrace")
        before.switch()
        return
    gdb.newest_frame().select()
    machine_now = machine()
    detour.start = int(gdb.newest_frame().read_register(machine_now[0][1])) & (2**64 - 1)
    detour.target, detour.enabled = strand.sp, True
    gdb.invalidate_cached_frames()
    try:
        lines = gdb.execute("backtrace", to_string=True).splitlines()
        print("\n".join(line for line in lines if not line.startswith("#0 ")))
    finally:
        detour.target, detour.enabled = None, False
        gdb.invalidate_cached_frames()


class Sennit(gdb.Command):
    """Fibers, coroutines and tasks: `sennit fibers`, `sennit coroutines`, `sennit tasks`, `sennit
    bt N`, `sennit bt all`.
    """

    def __init__(self):
        super().__init__("sennit", gdb.COMMAND_STACK, prefix=True)


class Fibers(gdb.Command):
    """Lists the fibers that have a stack, with their state and the object of their wait."""

    def __init__(self):
        super().__init__("sennit fibers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        layout = Layout()
        for strand in strands(layout) + fibers_on_no_stack(layout):
            print(strand.line())


class Coroutines(gdb.Command):
    """Lists the coroutines that have begun and not ended."""

    def __init__(self):
        super().__init__("sennit coroutines", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for one in coroutines(Layout()):
            print(one.line())


class Tasks(gdb.Command):
    """Lists the tasks that wait, each with its functions, innermost first."""

    def __init__(self):
        super().__init__("sennit tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for one in tasks(Layout()):
            print(one.line())
            for number, function in enumerate(one.functions):
                print(f"    #{number:<2} {symbol_of(function)}")


class Backtrace(gdb.Command):
    """Shows where a fiber or coroutine stands: `sennit bt NUMBER`, its name, `stack N`, `side N`,
    or `all`.
    """

    def __init__(self):
        super().__init__("sennit bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        wanted = argument.strip()
        layout = Layout()
        chosen = [
            one
            for one in strands(layout)
            if wanted in ("all", str(one.id), one.name, f"stack {one.stack}") and wanted
        ]
        chosen += [
            one
            for one in coroutines(layout) + fibers_on_no_stack(layout)
            if wanted in ("all", one.name, f"side {one.number}") and wanted
        ]
        if not chosen:
            raise gdb.GdbError(
                "sennit bt: a fiber's number, a name, 'stack N', 'side N', or all; see sennit"
                " fibers and sennit coroutines"
            )
        for strand in chosen:
            print_backtrace(strand)


Sennit()
Fibers()
Coroutines()
Tasks()
Backtrace()
