# SPDX-License-Identifier: Apache-2.0
"""The server of the family `http`: nginx. `serve.py NGINX WORKLOAD SIZE THREADS` makes a listener
at a free port, prints the port, and starts nginx with the listener and as many worker processes as
threads. It serves until the standard input ends.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

WORKLOADS = ("io-http", "io-http-pipelined")
BACKLOG = 4096
# excerpt http
CONFIGURATION = """
worker_processes {threads};
daemon off;
pid {folder}/pid;
error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location = /hello {{ default_type text/plain; return 200 "hello\\n"; }}
    }}
}}
"""
# excerpt end


def main(nginx, workload, size, threads):
    if workload not in WORKLOADS:
        sys.exit(f"no workload is called '{workload}'")
    for text in (size, threads):
        if not text.isdecimal() or int(text) < 1:
            sys.exit(f"size and threads must be numbers from 1 on, not '{text}'")
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as door,
    ):
        port = door.getsockname()[1]
        file = Path(folder, "nginx.conf")
        file.write_text(CONFIGURATION.format(threads=threads, folder=folder, port=port))
        server = subprocess.Popen(
            [nginx, "-e", "stderr", "-p", folder, "-c", file],
            stdin=subprocess.DEVNULL,
            env=os.environ | {"NGINX": f"{door.fileno()};"},  # as from one nginx to its successor
            pass_fds=[door.fileno()],
        )
        print("port", port, flush=True)
        sys.stdin.read()
        server.send_signal(signal.SIGTERM)
        if server.wait() != 0:
            sys.exit(f"nginx ended with status {server.returncode}")


main(*sys.argv[1:])
