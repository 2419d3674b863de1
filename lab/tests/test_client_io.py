# SPDX-License-Identifier: Apache-2.0
"""Tests of the client of the family `io`, lab/clients/io, against servers that behave and
misbehave. The client comes from the build folder that SENNIT_LAB_BUILD names, or is built.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import lab_case  # noqa: F401  (finds the harness)
from harness.build import Builder
from harness.catalogue import WORKLOADS
from harness.execute import Failed, run_once

SERVER = Path(__file__).with_name("fake_server.py")
MISBEHAVIOURS = {
    "wrong_byte": "the server sent a wrong reply",
    "reply_of_another": "the server sent a wrong reply",
    "close": "the server closed a connection before its reply|Connection reset by peer",
    "crash": "the server closed a connection before its reply|Connection reset by peer",
    "no_port": "the server named no port: the server ended with status 3",
    "chatty": "the server named no port: it printed 'hello'",
    "bad_end": "at the end of its input, the server ended with status 7",
    "silent": "did not finish within 2 s",
}


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("cmake", "g++"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        cls.client = Builder().client("io")

    def run_once(self, behaviour, workload="io-echo-1", size="20", **limits):
        command = [*self.client, sys.executable, str(SERVER), behaviour]
        return run_once(command, "epoll", workload, size, 1, **limits)

    def test_echo_gives_all_figures_of_server(self):
        for behaviour in ("good", "in_pieces"):
            with self.subTest(behaviour):
                result = self.run_once(behaviour)
                self.assertEqual((result["ok"], result["answer"], result["tasks"]), (True, 20, 20))
                figures = result["figures"]
                self.assertEqual(set(figures), set(WORKLOADS["io-echo-1"].figures))
                self.assertGreater(figures["rtt_us_p50"], 0)
                self.assertLessEqual(figures["rtt_us_p50"], figures["rtt_us_p99"])
                self.assertLessEqual(figures["rtt_us_p99"], figures["rtt_us_p999"])
                self.assertAlmostEqual(
                    figures["server_cpu_us"], result["cpu_seconds"] * 1e6 / 20, delta=0.1
                )
                self.assertGreater(result["peak_rss_kib"], 5000)  # Python, and not the client

    def test_warm_up_is_tenth_of_requests_and_can_be_left_out(self):
        # The fifth request of the server fails: with the warm-up it is the fourth that is timed.
        with mock.patch.dict(os.environ, LAB_NO_WARMUP="1"):
            self.assertTrue(self.run_once("close", size="4")["ok"])
            with self.assertRaises(Failed):
                self.run_once("close", size="5")
        with self.assertRaises(Failed):
            self.run_once("close", size="4")

    def test_each_misbehaviour_of_server_gives_its_reason(self):
        for behaviour, reason in MISBEHAVIOURS.items():
            with self.subTest(behaviour), self.assertRaisesRegex(Failed, reason):
                self.run_once(behaviour, time_limit=2.0 if behaviour == "silent" else 30.0)

    def test_server_that_does_not_work_gives_wrong_reply(self):
        with self.assertRaisesRegex(Failed, "the server sent a wrong reply"):
            self.run_once("good", "io-fork-1")  # it echoes, and adds nothing up
        (program,) = Builder().command("epoll")
        echo = ["sh", "-c", f"exec '{program}' io-echo-1 1 1"]
        with self.assertRaisesRegex(Failed, "the server sent a wrong reply"):
            run_once([*self.client, *echo], "epoll", "io-mixed", "60", 1)

    def test_open_loop_keeps_timetable(self):
        (program,) = Builder().command("epoll")
        wall = {}
        for requests in ("60", "120"):
            result = run_once([*self.client, program], "epoll", "io-mixed", requests, 1)
            self.assertEqual(set(result["figures"]), set(WORKLOADS["io-mixed"].figures))
            self.assertEqual((result["ok"], result["tasks"]), (True, int(requests)))
            wall[requests] = result["seconds"]
        # The last request of the timetable bounds the time from below, however fast the server is.
        self.assertGreater(wall["60"], 0.05)
        self.assertGreater(wall["120"], 0.1)

    def test_client_has_processor_for_itself_if_server_leaves_one(self):
        usable = sorted(os.sched_getaffinity(0))
        if len(usable) < 2:
            self.skipTest("the test needs two processors")
        for workers, expected in ((1, usable[:-1]), (len(usable), usable)):
            with self.subTest(workers), tempfile.TemporaryDirectory() as folder:
                seen = Path(folder, "seen")
                look = "import os, sys; print(sorted(os.sched_getaffinity(0)), file=sys.stderr)"
                shell = f'{sys.executable} -c "{look}" 2>"{seen}"; exec "$@"'
                server = ["sh", "-c", shell, "sh", sys.executable, str(SERVER), "good"]
                command = [*self.client, *server]
                result = run_once(command, "epoll", "io-echo-1", "20", workers)
                self.assertTrue(result["ok"])
                self.assertEqual(seen.read_text().strip(), str(expected))

    def test_storm_makes_connection_for_each_request(self):
        result = self.run_once("one_each", "io-accept", "100")
        self.assertEqual((result["ok"], result["tasks"]), (True, 100))
        self.assertEqual(set(result["figures"]), set(WORKLOADS["io-accept"].figures))
        with self.assertRaisesRegex(Failed, "closed a connection before its reply|reset by peer"):
            self.run_once("one_each", "io-echo-1", "2")

    def test_rest_shows_memory_and_switches_of_server(self):
        figures = {}
        for behaviour in ("many", "restless", "hoarder"):
            result = self.run_once(behaviour, "io-idle", "50")
            self.assertEqual((result["ok"], result["tasks"]), (True, 50))
            figures[behaviour] = result["figures"]
            self.assertEqual(set(result["figures"]), set(WORKLOADS["io-idle"].figures))
        self.assertLess(figures["many"]["idle_switches"], 10)
        self.assertGreater(figures["restless"]["idle_switches"], 20)
        self.assertLess(figures["many"]["idle_bytes"], 50_000)
        self.assertGreater(figures["hoarder"]["idle_bytes"], 150_000)

    def test_connection_that_did_not_survive_rest_is_found(self):
        with self.assertRaisesRegex(Failed, "closed a connection before its reply|reset by peer"):
            self.run_once("forgetful", "io-idle", "50")

    def test_http_client_checks_each_reply(self):
        for behaviour in ("http", "http_in_pieces"):
            for workload, size in (("io-http", "200"), ("io-http-pipelined", "2005")):
                with self.subTest(behaviour, workload=workload):
                    result = self.run_once(behaviour, workload, size)
                    self.assertEqual((result["ok"], result["tasks"]), (True, int(size)))
                    self.assertEqual(set(result["figures"]), set(WORKLOADS[workload].figures))
        for behaviour, reason in (
            ("http_wrong_body", "its body is not the expected one"),
            ("http_too_long", "it has more bytes than replies|it begins with"),
            ("http_not_found", "it begins with 'HTTP/1.1 404 No"),
            ("http_no_length", "its head has no Content-Length"),
        ):
            for workload in ("io-http", "io-http-pipelined"):
                with (
                    self.subTest(behaviour, workload=workload),
                    self.assertRaisesRegex(Failed, f"the server sent a wrong reply: ({reason})"),
                ):
                    self.run_once(behaviour, workload, "2000")

    def test_server_without_tls_is_refused(self):
        for workload in ("io-tls-16", "io-tls-handshake"):
            with (
                self.subTest(workload),
                self.assertRaisesRegex(Failed, "the handshake: |built without OpenSSL"),
            ):
                self.run_once("http", workload, "50")

    def test_too_many_connections_for_system_give_reason(self):
        done = subprocess.run(
            ["sh", "-c", 'ulimit -n 200 && exec "$@"', "sh"]
            + [*self.client, sys.executable, SERVER, "many", "io-idle", "500", "1"],
            text=True,
            capture_output=True,
        )
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(
            "600 connections need 664 descriptors in the client, and as many in the server; the "
            "system allows 200 to a process",
            done.stderr,
        )

    def test_server_that_cannot_start_gives_reason(self):
        with self.assertRaisesRegex(Failed, "/nonexistent/server: No such file"):
            run_once([*self.client, "/nonexistent/server"], "epoll", "io-echo-1", "20", 1)

    def test_client_refuses_what_it_does_not_know(self):
        for arguments, reason in (
            (("io-echo-3", "20", "1"), "no workload is called 'io-echo-3'"),
            (("io-echo-1", "0", "1"), "size must be a number from 1"),
            (("io-echo-1",), "usage: SERVER"),
        ):
            with self.subTest(arguments):
                done = subprocess.run(
                    [*self.client, "/nonexistent/server", *arguments],
                    text=True,
                    capture_output=True,
                )
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(reason, done.stderr)

    def test_line_is_one_json_object(self):
        done = subprocess.run(
            [*self.client, sys.executable, SERVER, "good", "io-echo-1", "20", "1"],
            text=True,
            capture_output=True,
        )
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1), done.stderr)
        self.assertEqual(json.loads(done.stdout)["expected"], 20)


if __name__ == "__main__":
    unittest.main()
