// SPDX-License-Identifier: Apache-2.0
// The lab's port to Node: an async function for each fiber, on the single thread of its event loop.
// There are no workers. A channel is a queue with waiters at both ends. `node lab.mjs WORKLOAD SIZE
// THREADS` runs one workload once to warm up and once timed, and prints one line of JSON. The
// number of threads is read and has no effect.
import {readFileSync} from 'node:fs';
import {createServer} from 'node:net';

const MOST = 90_000_000; // the sums are exact up to this size
const RING = 503;

/** A first-in, first-out queue that does not move the remaining items. */
class Queue {
    #items = [];
    #head = 0;

    get length() {
        return this.#items.length - this.#head;
    }

    put(item) {
        this.#items.push(item);
    }

    take() {
        const item = this.#items[this.#head];
        this.#items[this.#head++] = undefined;
        if (this.#head > 1024 && 2 * this.#head > this.#items.length) {
            this.#items = this.#items.slice(this.#head);
            this.#head = 0;
        }
        return item;
    }
}

class Channel {
    #values = new Queue();
    #takers = new Queue();
    #givers = new Queue();
    #room;

    constructor(room) {
        this.#room = room;
    }

    /** A promise where there is no room, else nothing to wait for. */
    push(value) {
        if (this.#takers.length > 0) {
            this.#takers.take()(value);
        } else if (this.#values.length < this.#room) {
            this.#values.put(value);
        } else {
            return new Promise((go) => this.#givers.put({value, go}));
        }
        return null;
    }

    /** The value or a promise of it: `await` takes both. */
    pop() {
        if (this.#values.length > 0) {
            const value = this.#values.take();
            if (this.#givers.length > 0) {
                this.#values.put(this.#released());
            }
            return value;
        }
        if (this.#givers.length > 0) {
            return this.#released();
        }
        return new Promise((go) => this.#takers.put(go));
    }

    #released() {
        const {value, go} = this.#givers.take();
        go();
        return value;
    }
}

async function node(above, first, leaves) {
    await above.push(leaves === 1 ? first : await children(first, leaves / 10));
}

async function children(first, part) {
    const below = new Channel(10);
    for (let i = 0; i < 10; i++) {
        void node(below, first + i * part, part);
    }
    let sum = 0;
    for (let i = 0; i < 10; i++) {
        sum += await below.pop();
    }
    return sum;
}

async function skynet(leaves) {
    const result = new Channel(1);
    void node(result, 0, leaves);
    return result.pop();
}

async function yields(n) {
    const half = async (share) => {
        for (let i = 0; i < share; i++) {
            await undefined; // the other ready functions run first
        }
        return share;
    };
    const [a, b] = await Promise.all([half(n - Math.floor(n / 2)), half(Math.floor(n / 2))]);
    return a + b;
}

async function create(n) {
    let count = 0;
    for (let i = 0; i < n; i++) {
        await (async () => {
            count++;
        })();
    }
    return count;
}

async function sendAndAdd(n, room) {
    const numbers = new Channel(room);
    const producer = (async () => {
        for (let i = 0; i < n; i++) {
            const full = numbers.push(i);
            if (full) {
                await full;
            }
        }
    })();
    let sum = 0;
    for (let i = 0; i < n; i++) {
        sum += await numbers.pop();
    }
    await producer;
    return sum;
}

async function blocked(n) {
    let open;
    let passed = 0;
    const gate = new Promise((go) => {
        open = go;
    });
    const all = Array.from({length: n}, async () => {
        await gate;
        passed++;
    });
    open();
    await Promise.all(all);
    return passed;
}

async function turns(n) {
    const waiting = [null, null];
    let turn = 0;
    let count = 0;
    const play = async (me, rounds) => {
        for (let i = 0; i < rounds; i++) {
            while (turn !== me) {
                await new Promise((go) => {
                    waiting[me] = go;
                });
            }
            count++;
            turn = 1 - me;
            waiting[turn]?.();
            waiting[turn] = null;
        }
    };
    await Promise.all([play(0, n - Math.floor(n / 2)), play(1, Math.floor(n / 2))]);
    return count;
}

/**
 * The time that a sleeper sleeps, in milliseconds, equal in every runtime. Node's timers know only
 * whole milliseconds.
 */
function nap(sleeper) {
    const mixed = (BigInt(sleeper) * 0x9E3779B97F4A7C15n) & 0xFFFFFFFFFFFFFFFFn;
    return Number((mixed >> 32n) % 100_000n) / 1000;
}

async function sleepers(n) {
    let woken = 0;
    const all = Array.from({length: n}, async (_, i) => {
        await new Promise((go) => setTimeout(go, nap(i)));
        woken++;
    });
    await Promise.all(all);
    return woken;
}

async function threadRing(n) {
    const mail = Array.from({length: RING}, () => new Channel(1));
    const result = new Channel(1);
    const actor = async (me) => {
        for (;;) {
            const left = await mail[me].pop();
            if (left === 0) {
                return result.push(me + 1);
            }
            void mail[(me + 1) % RING].push(left - 1);
        }
    };
    for (let me = 0; me < RING; me++) {
        void actor(me);
    }
    void mail[0].push(n);
    return result.pop();
}

const counted = (run) => (n) => ({run: () => run(n), expected: n, tasks: n});
const summed = (run) => (n) => ({run: () => run(n), expected: (n * (n - 1)) / 2, tasks: n});
const tree = (n) => {
    if (!/^10*$/.test(String(n))) {
        throw new Error(`size must be a power of ten, not '${n}'`);
    }
    return {run: () => skynet(n), expected: (n * (n - 1)) / 2, tasks: (10 * n - 1) / 9};
};
const WORKLOADS = {
    'skynet-channel': tree,
    'skynet-actor': tree,
    'fiber-yield': counted(yields),
    'fiber-create': counted(create),
    'channel-rendezvous': summed((n) => sendAndAdd(n, 0)),
    'channel-buffered': summed((n) => sendAndAdd(n, 128)),
    'fibers-blocked': counted(blocked),
    'condition': counted(turns),
    'sleepers': counted(sleepers),
    'thread-ring': (n) => ({run: () => threadRing(n), expected: (n % RING) + 1, tasks: n}),
};

function number(what, text, most) {
    if (!/^[0-9]{1,9}$/.test(text) || Number(text) < 1 || Number(text) > most) {
        throw new Error(`${what} must be a number from 1 to ${most}, not '${text}'`);
    }
    return Number(text);
}

const ECHO = /^io-echo-(1|16|256|1024)$/; // the servers of lab/workloads/io that Node has

/** Sends back all bytes, at a free port, until the standard input ends. */
function serveEcho() {
    const server = createServer({noDelay: true}, (peer) => {
        peer.on('data', (bytes) => peer.write(bytes));
        peer.on('error', () => {}); // the client has gone
    });
    server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
    process.stdin.resume();
    process.stdin.on('end', () => process.exit(0));
}

const peakKib = () => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);

async function measure([name, size, threads, ...rest]) {
    if (threads === undefined || rest.length > 0) {
        throw new Error('usage: WORKLOAD SIZE THREADS');
    }
    if (ECHO.test(name)) {
        number('size', size, 999_999_999);
        number('threads', threads, 1024);
        return serveEcho();
    }
    if (!Object.hasOwn(WORKLOADS, name)) {
        throw new Error(`no workload is called '${name}'`);
    }
    number('threads', threads, 1024);
    const {run, expected, tasks} = WORKLOADS[name](number('size', size, MOST));
    if (process.env.LAB_NO_WARMUP === undefined) {
        await run();
    }
    const before = process.cpuUsage();
    const start = process.hrtime.bigint();
    const answer = await run();
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    const used = process.cpuUsage(before);
    const cpuSeconds = (used.user + used.system) / 1e6;
    console.log(`{"answer": ${answer}, "expected": ${expected}, "seconds": ${seconds.toFixed(9)}, `
        + `"cpu_seconds": ${cpuSeconds.toFixed(6)}, "tasks": ${tasks}, `
        + `"peak_rss_kib": ${peakKib()}}`);
    return answer === expected ? 0 : 1;
}

try {
    process.exitCode = await measure(process.argv.slice(2));
} catch (error) {
    console.error(error.message);
    process.exitCode = 1;
}
