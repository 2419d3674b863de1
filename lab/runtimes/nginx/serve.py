# SPDX-License-Identifier: Apache-2.0
"""The server of the family `http`: nginx. `serve.py NGINX WORKLOAD SIZE THREADS` starts nginx at a
free port with as many worker processes as threads, prints the port, and ends nginx when the
standard input ends.

nginx starts as a daemon: its first process ends when the port is open. This process is the parent
of the daemon, so that the client finds nginx among the server's processes.
"""

import ctypes
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

WORKLOADS = ("io-http", "io-http-pipelined")
PR_SET_CHILD_SUBREAPER = 36  # <sys/prctl.h>
ATTEMPTS = 10
# excerpt http
CONFIGURATION = """
worker_processes {threads};
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


def start(command, file, configuration):
    """Starts nginx at a free port, and returns the port. Another program may take the port before
    nginx does: the next attempt takes another one.
    """
    for _ in range(ATTEMPTS):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        file.write_text(configuration.replace("{port}", str(port)))
        if subprocess.run(command, stdin=subprocess.DEVNULL).returncode == 0:
            return port
    sys.exit(f"nginx has not started in {ATTEMPTS} attempts; its reasons are above")


def main(nginx, workload, size, threads):
    if workload not in WORKLOADS:
        sys.exit(f"no workload is called '{workload}'")
    for text in (size, threads):
        if not text.isdecimal() or int(text) < 1:
            sys.exit(f"size and threads must be numbers from 1 on, not '{text}'")
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "nginx.conf")
        command = [nginx, "-e", "stderr", "-p", folder, "-c", file]
        configuration = CONFIGURATION.format(threads=threads, folder=folder, port="{port}")
        print("port", start(command, file, configuration), flush=True)
        sys.stdin.read()
        subprocess.run([*command, "-s", "stop"], check=True)
        os.wait()


main(*sys.argv[1:])
