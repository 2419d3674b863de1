// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.function.LongSupplier;

/** The workloads over Forks: FORKS WORKLOAD SIZE THREADS, one line of JSON. */
public final class Main {
    private static Forks forks;

    static long fib(int n) {
        return n < 2 ? n : forks.sum(2, i -> fib(n - 1 - i));
    }

    static long skynet(long first, long count) {
        if (count == 1) {
            return first;
        }
        long part = count / 10;
        return forks.sum(10, i -> skynet(first + i * part, part));
    }

    static long queens(int n, int column, byte[] board) {
        if (column == n) {
            return 1;
        }
        byte[] moves = new byte[n];
        int count = 0;
        for (byte row = 0; row < n; row++) {
            boolean legal = true;
            for (int x = 0; x < column && legal; x++) {
                int d = column - x;
                legal = row != board[x] && row != board[x] - d && row != board[x] + d;
            }
            if (legal) {
                moves[count++] = row;
            }
        }
        return forks.sum(count, i -> {
            byte[] next = board.clone();
            next[column] = moves[i];
            return queens(n, column + 1, next);
        });
    }

    static void multiplyLeaf(int[] a, int a0, int[] b, int b0, int[] c, int c0, int n, int stride) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < n; k++) {
                int x = a[a0 + i * stride + k];
                for (int j = 0; j < n; j++) {
                    c[c0 + i * stride + j] += x * b[b0 + k * stride + j];
                }
            }
        }
    }

    static void multiply(int[] a, int a0, int[] b, int b0, int[] c, int c0, int n, int stride) {
        if (n <= 32) {
            multiplyLeaf(a, a0, b, b0, c, c0, n, stride);
            return;
        }
        int k = n / 2;
        int down = k * stride;
        for (int half = 0; half < 2; half++) {
            int left = half * k;
            int upper = half * down;
            forks.sum(4, i -> {
                int lower = (i / 2) * down;
                int right = (i % 2) * k;
                multiply(a, a0 + left + lower, b, b0 + upper + right, c, c0 + lower + right, k, stride);
                return 0;
            });
        }
    }

    static long matmul(int n) {
        int[] a = new int[n * n];
        int[] b = new int[n * n];
        int[] c = new int[n * n];
        Arrays.fill(a, 1);
        Arrays.fill(b, 1);
        multiply(a, 0, b, 0, c, 0, n, n);
        for (int x : c) {
            if (x != n) {
                return 0;
            }
        }
        return n;
    }

    record Tree(boolean geometric, double b0, int depth, double q, int m, int seed, long nodes) {
        static Tree named(String name) {
            return switch (name) {
                case "T1" -> new Tree(true, 4, 10, 0, 0, 19, 4130071);
                case "T3" -> new Tree(false, 2000, 0, 0.124875, 8, 42, 4112897);
                case "TT" -> new Tree(true, 4, 5, 0, 0, 19, 3987);
                default -> throw new IllegalArgumentException("unknown tree");
            };
        }

        int children(byte[] state, int height) {
            double random = (ByteBuffer.wrap(state, 16, 4).getInt() & 0x7fffffff) / 2147483648.0;
            if (geometric) {
                if (height >= depth) {
                    return 0;
                }
                double p = 1 / (1 + b0);
                return Math.min((int) Math.floor(Math.log(1 - random) / Math.log(1 - p)), 100);
            }
            return height == 0 ? (int) b0 : random < q ? m : 0;
        }
    }

    static byte[] sha1(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-1").digest(bytes);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static long uts(Tree tree, byte[] state, int height) {
        return 1 + forks.sum(tree.children(state, height), i -> {
            byte[] bytes = ByteBuffer.allocate(24).put(state).putInt(i).array();
            return uts(tree, sha1(bytes), height + 1);
        });
    }

    static double cpuSeconds() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
    }

    static long peakRss() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        return -1;
    }

    static long power(long base, int exponent) {
        return exponent == 0 ? 1 : base * power(base, exponent - 1);
    }

    public static void main(String[] arguments) throws IOException {
        String workload = arguments[1];
        String size = arguments[2];
        int threads = Integer.parseInt(arguments[3]);
        forks = arguments[0].equals("ForkJoin") ? new ForkJoin(threads) : new VirtualThreads();
        LongSupplier job;
        long tasks;
        switch (workload) {
            case "fib" -> {
                int n = Integer.parseInt(size);
                long a = 0;
                long b = 1;
                for (int i = 0; i <= n; i++) {
                    long next = a + b;
                    a = b;
                    b = next;
                }
                tasks = 2 * a - 1;
                job = () -> fib(n);
            }
            case "skynet" -> {
                long leaves = power(10, Integer.parseInt(size));
                tasks = (leaves * 10 - 1) / 9;
                job = () -> skynet(0, leaves);
            }
            case "nqueens" -> {
                int n = Integer.parseInt(size);
                long[] nodes = {1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926, 856189, 4674890, 27358553,
                    171129072, 1141190303};
                tasks = nodes[n];
                job = () -> queens(n, 0, new byte[n]);
            }
            case "matmul" -> {
                int n = Integer.parseInt(size);
                long level = 1;
                tasks = 1;
                for (int k = n; k > 32; k /= 2) {
                    level *= 8;
                    tasks += level;
                }
                job = () -> matmul(n);
            }
            case "uts" -> {
                Tree tree = Tree.named(size);
                tasks = tree.nodes();
                job = () -> uts(tree, sha1(ByteBuffer.allocate(20).putInt(16, tree.seed()).array()), 0);
            }
            default -> throw new IllegalArgumentException("unknown workload");
        }
        if (System.getenv("LAB_NO_WARMUP") == null) {
            forks.enter(job);
        }
        double cpu = cpuSeconds();
        long start = System.nanoTime();
        long answer = forks.enter(job);
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf("{\"answer\": %d, \"seconds\": %.9f, \"cpu_seconds\": %.6f, \"tasks\": %d, \"peak_rss_kib\": %d}%n",
            answer, seconds, cpuSeconds() - cpu, tasks, peakRss());
        System.exit(0);
    }
}
