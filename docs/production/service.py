"""A web service: rows as JSON in a POST request, their scores as JSON in the answer. Pass the file and a port."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1])


class Scores(BaseHTTPRequestHandler):
    """Answers requests."""

    def do_POST(self):
        """Project the rows of a request."""
        try:
            rows = np.array(json.loads(self.rfile.read(int(self.headers["Content-Length"]))), dtype=np.float64)
            (scores,) = session.run(["transform"], {"X": rows})
            answer = json.dumps(scores.tolist(), allow_nan=False).encode()
        except Exception:
            return self.send_error(400, "pass rows of finite numbers, as a list of lists")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(answer)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Scores).serve_forever()
