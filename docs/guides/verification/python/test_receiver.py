"""python3 -m unittest test_receiver"""

import base64
import pathlib
import unittest

from receiver import verify

VECTORS = pathlib.Path(__file__).parent.parent / "vectors.tsv"


class Signatures(unittest.TestCase):
    def test_vectors(self):
        lines = VECTORS.read_text(encoding="utf-8").splitlines()[1:]
        self.assertGreater(len(lines), 10)
        for line in lines:
            name, valid, now, secret, header, body = line.split("\t")
            with self.subTest(name):
                self.assertEqual(verify(header, base64.b64decode(body), secret, float(now)), valid == "yes")


if __name__ == "__main__":
    unittest.main()
