// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.function.LongBinaryOperator;

/**
 * The servers of lab/workloads/io: a virtual thread for each connection. message.hpp there
 * describes the requests. A server listens at a free port until the standard input ends.
 */
final class Server {
    private static final int MESSAGE = 64;
    private static final int LEAVES = 256;
    private static final int BACKLOG = 4096;

    /** Serves one connection until the client ends it. */
    private interface Handler {
        void serve(InputStream from, OutputStream to) throws IOException;
    }

    private static final Map<String, Handler> HANDLERS = Map.of(
        "io-echo-1", Server::echo,
        "io-echo-16", Server::echo,
        "io-echo-256", Server::echo,
        "io-echo-1024", Server::echo,
        "io-mixed", answering(Server::steps),
        "io-accept", answering(Server::steps),
        "io-idle", answering(Server::steps),
        "io-fork-1", answering(Server::forkedSum),
        "io-fork-16", answering(Server::forkedSum));

    private Server() {}

    static boolean knows(String workload) {
        return HANDLERS.containsKey(workload);
    }

    private static void echo(InputStream from, OutputStream to) throws IOException {
        byte[] buffer = new byte[4096];
        for (int n = from.read(buffer); n > 0; n = from.read(buffer)) {
            to.write(buffer, 0, n);
        }
    }

    /** Replaces word 1 of each request by result(word 1, word 0). */
    private static Handler answering(LongBinaryOperator result) {
        return (from, to) -> {
            byte[] request = new byte[MESSAGE];
            ByteBuffer words = ByteBuffer.wrap(request).order(ByteOrder.LITTLE_ENDIAN);
            while (from.readNBytes(request, 0, MESSAGE) == MESSAGE) {
                words.putLong(8, result.applyAsLong(words.getLong(8), words.getLong(0)));
                to.write(request);
            }
        };
    }

    private static long steps(long state, long count) {
        return Scaling.xorshift(state, count);
    }

    /** Each leaf but the last is a virtual thread. */
    private static long forkedSum(long state, long count) {
        return new VirtualThreads().sum(LEAVES, i -> steps(state + i, count));
    }

    private static void accept(ServerSocket door, Handler handler) {
        try {
            while (true) {
                Socket peer = door.accept();
                Thread.ofVirtual().start(() -> {
                    try (peer) {
                        peer.setTcpNoDelay(true);
                        handler.serve(peer.getInputStream(), peer.getOutputStream());
                    } catch (IOException gone) {
                        // The client has ended the connection.
                    }
                });
            }
        } catch (IOException closed) {
            // The server ends.
        }
    }

    static void serve(String workload) throws IOException {
        Handler handler = HANDLERS.get(workload);
        try (ServerSocket door = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> accept(door, handler));
            System.out.println("port " + door.getLocalPort());
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }
}
