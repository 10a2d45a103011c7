"""Reading an experiment takes a time that grows with its strategies and events, not with their square."""

import resource
import unittest

from command import ScratchTest, c3sim

HEAD = 'schema = 1\nsystem = "mi300x-8"\n[measure]\nseeds = 1\n'
ONE = '[[stream]]\nname = "a"\nrun = [{ timed = "1 us" }]\n'
MOST = 2.6  # times as long for twice as much


def with_strategies(count):
    return HEAD + ONE + "".join(f"[strategy.s{i}]\n" for i in range(count))


def with_events(count):
    run = ", ".join(f'{{ timed = "1 us" }}, {{ record = "e{i}" }}' for i in range(count))
    waits = ", ".join(f'{{ wait = "e{i}" }}' for i in range(count))
    return HEAD + f'[[stream]]\nname = "a"\nrun = [{run}]\n[[stream]]\nname = "b"\nrun = [{waits}, {{ timed = "1 us" }}]\n[strategy.s]\n'


class LargeExperiments(ScratchTest):
    def seconds(self, text):
        """Of processor time, the least of two."""
        (self.folder / "large.toml").write_text(text)
        times = []
        for _ in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = c3sim("config", "check", "large.toml", folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime - before.ru_utime)
        return min(times)

    def test_strategies(self):
        self.assertLess(self.seconds(with_strategies(80_000)) / self.seconds(with_strategies(40_000)), MOST)

    def test_events(self):
        self.assertLess(self.seconds(with_events(80_000)) / self.seconds(with_events(40_000)), MOST)


if __name__ == "__main__":
    unittest.main()
