"""Reading an experiment takes a time that grows with its strategies and events, not with their square."""

import resource
import unittest

from command import ScratchTest, c3sim

HEAD = 'schema = 1\nsystem = "mi300x-8"\n[measure]\nseeds = 1\n'
ONE = '[[stream]]\nname = "a"\nrun = [{ timed = "1 us" }]\n'
MOST = 8  # times as long for four times as much: what grows with the square takes 16 times as long


def with_strategies(count):
    return HEAD + ONE + "".join(f"[strategy.s{i}]\n" for i in range(count))


def with_events(count):
    run = ", ".join(f'{{ timed = "1 us" }}, {{ record = "e{i}" }}' for i in range(count))
    waits = ", ".join(f'{{ wait = "e{i}" }}' for i in range(count))
    return HEAD + f'[[stream]]\nname = "a"\nrun = [{run}]\n[[stream]]\nname = "b"\nrun = [{waits}, {{ timed = "1 us" }}]\n[strategy.s]\n'


class LargeExperiments(ScratchTest):
    def seconds(self, text):
        """Of processor time."""
        (self.folder / "large.toml").write_text(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = c3sim("config", "check", "large.toml", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before.ru_utime

    def check(self, experiment):
        """The least of three, taken in turn: what else the machine does slows all of them."""
        times = [(self.seconds(experiment(20_000)), self.seconds(experiment(80_000))) for _ in range(3)]
        small, large = (min(column) for column in zip(*times))
        self.assertLess(large / small, MOST)

    def test_strategies(self):
        self.check(with_strategies)

    def test_events(self):
        self.check(with_events)


if __name__ == "__main__":
    unittest.main()
