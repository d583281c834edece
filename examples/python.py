"""Facts, a rule, a question with its proof, and what falls when a premise does, with Python's standard library alone.

    python3 examples/python.py                       against http://127.0.0.1:9300
    COROLLARY_URL=... COROLLARY_API_KEY=... python3  elsewhere, with a key

It works in a tenant of its own, and leaves nothing behind.
"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


class CorollaryError(Exception):
    """What the service answered instead: `code` is for programs, the text for people."""

    def __init__(self, problem):
        super().__init__(f"{problem['code']}: {problem['detail']} (request {problem['requestId']})")
        self.code = problem["code"]
        self.problem = problem


class Corollary:
    """A service, called as one tenant of one database."""

    def __init__(self, url, tenant, database="default", key=None):
        self.url = url.rstrip("/")
        self.headers = {"X-Tenant-ID": tenant, "X-Database": database, "Content-Type": "application/json"}
        if key is not None:
            self.headers["Authorization"] = f"Bearer {key}"

    def call(self, method, path, body=None, **headers):
        """Performs an operation of /docs; answers its JSON, or raises CorollaryError."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data=data, method=method, headers={**self.headers, **headers}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as refusal:
            raise CorollaryError(json.load(refusal)) from None


def main():
    service = Corollary(
        os.environ.get("COROLLARY_URL", "http://127.0.0.1:9300"),
        tenant="example-python",
        key=os.environ.get("COROLLARY_API_KEY"),
    )
    facts = [["alma", "nora"], ["nora", "eve"], ["eve", "pia"]]
    service.call(
        "POST", "/assert/facts", {"facts": [{"predicate": "parent", "args": args} for args in facts]}
    )
    rules = [
        service.call("POST", "/teach", {"text": text})["id"]
        for text in (
            "example_ancestor(?x, ?y) :- parent(?x, ?y)",
            "example_ancestor(?x, ?z) :- example_ancestor(?x, ?y), parent(?y, ?z)",
        )
    ]
    answer = service.call("POST", "/ask", {"text": "example_ancestor(alma, ?who)", "withProof": True})
    print("Alma is an ancestor of", ", ".join(sorted(each["who"] for each in answer["bindings"])))
    for step in answer["proof"]["steps"]:
        how = "stored" if step["rule"] is None else f"from {step['premises']} by {step['rule']}"
        print(f"  {step['id']}. {step['atom']}  {how}")
    retracted = service.call("POST", "/retract", {"predicate": "parent", "args": ["nora", "eve"]})
    print("Without parent(nora, eve) no longer:", ", ".join(retracted["dependents"]))

    for rule in rules:
        service.call("DELETE", f"/rules/{urllib.parse.quote(rule)}")
    service.call("POST", "/retract/pattern", {"predicate": "parent", "args": ["?x", "?y"]})


if __name__ == "__main__":
    try:
        main()
    except CorollaryError as error:
        sys.exit(str(error))
    except urllib.error.URLError as error:
        sys.exit(f"The service does not answer: {error.reason}. Is it running, and is the address right?")
