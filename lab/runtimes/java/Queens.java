// SPDX-License-Identifier: Apache-2.0

/** The ways to place n queens on a board of n by n, with a child for each legal row of a column. */
record Queens(Forks forks) {
    private static final long[] SOLUTIONS = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200,
        73712, 365596, 2279184, 14772512};
    private static final long[] NODES = {1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926,
        856189, 4674890, 27358553, 171129072, 1141190303};

    long queens(int n, int column, byte[] board) {
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

    static Workload of(String size, Forks forks) {
        int n = Workload.number("size", size, 1, SOLUTIONS.length - 1);
        Queens queens = new Queens(forks);
        return new Workload(() -> queens.queens(n, 0, new byte[n]), SOLUTIONS[n], NODES[n]);
    }
}
