// SPDX-License-Identifier: Apache-2.0
import java.nio.ByteBuffer;

/**
 * The unbalanced tree search (Olivier et al., LCPC 2006). The shape of a tree follows from its
 * random numbers alone.
 */
record Uts(Forks forks, Tree tree) {
    private static final int MOST_CHILDREN = 100;

    /**
     * The parameters of a tree: whether it is geometric or binomial, the number of children of the
     * root (geometric: the mean number of children of every node), the number of levels
     * (geometric), the probability that a node has children and the number of them (binomial), and
     * the seed.
     */
    record Tree(boolean geometric, double b0, int depth, double q, int m, int seed, long nodes) {
        static Tree named(String name) {
            return switch (name) {
                case "T1" -> new Tree(true, 4, 10, 0, 0, 19, 4130071);
                case "T3" -> new Tree(false, 2000, 0, 0.124875, 8, 42, 4112897);
                case "T1L" -> new Tree(true, 4, 13, 0, 0, 29, 102181082);
                case "T3L" -> new Tree(false, 2000, 0, 0.200014, 5, 7, 111345631);
                case "TT" -> new Tree(true, 4, 5, 0, 0, 19, 3987);
                default -> throw new IllegalArgumentException(
                    "size must be T1, T3, T1L, T3L or TT, not '" + name + "'");
            };
        }

        int children(byte[] state, int height) {
            double random = (ByteBuffer.wrap(state, 16, 4).getInt() & 0x7fffffff) / 2147483648.0;
            if (geometric) {
                if (height >= depth) {
                    return 0;
                }
                double p = 1 / (1 + b0);
                return Math.min(
                    (int) Math.floor(Math.log(1 - random) / Math.log(1 - p)), MOST_CHILDREN);
            }
            return height == 0 ? (int) b0 : random < q ? m : 0;
        }
    }

    long search(byte[] state, int height) {
        return 1 + forks.sum(tree.children(state, height), i -> {
            byte[] bytes = ByteBuffer.allocate(24).put(state).putInt(i).array();
            return search(Sha1.of(bytes), height + 1);
        });
    }

    static Workload of(String size, Forks forks) {
        Uts uts = new Uts(forks, Tree.named(size));
        byte[] root = ByteBuffer.allocate(20).putInt(16, uts.tree.seed()).array();
        return new Workload(() -> uts.search(Sha1.of(root), 0), uts.tree.nodes(), uts.tree.nodes());
    }
}
