"""Work spread over processes: results in order, a worker that dies costs the item that killed it, Ctrl-C leaves none behind."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 4
"""Chunks per worker that are handed out before their results are taken: bounds what is kept in memory."""

_function: Callable[[Any], Any] | None = None
"""What to do with an item; set in worker processes only."""


class Pool(Generic[Item, Result]):
    """A number of processes that apply one function; `died` makes the result of an item on which its process died."""

    def __init__(self, function: Callable[[Item], Result], workers: int, died: Callable[[Item], Result]) -> None:
        self._function = function
        self._workers = workers
        self._died = died

    def map(self, chunks: Iterable[list[Item]]) -> Iterator[Result]:
        """The results of all items in order; the processes are started again when one dies."""
        todo = deque(chunks)
        waiting: deque[tuple[list[Item], Future[list[Result]]]] = deque()
        executor = self._executor(self._workers)
        try:
            while todo or waiting:
                while todo and len(waiting) < self._workers * _AHEAD:
                    waiting.append((todo[0], _submit(executor, todo[0])))
                    todo.popleft()
                chunk, future = waiting.popleft()
                try:
                    results = future.result()
                except BrokenProcessPool:
                    lost = [chunk, *(chunk for chunk, _ in waiting)]
                    waiting.clear()
                    executor.shutdown()
                    yield from (self._alone(item) for chunk in lost for item in chunk)
                    executor = self._executor(self._workers)
                else:
                    yield from results
        except BaseException:
            _stop(executor)
            raise
        executor.shutdown()

    def _alone(self, item: Item) -> Result:
        """Do an item in a process of its own, to tell the one that kills its worker from those that were with it."""
        executor = self._executor(1)
        future: Future[list[Result]] = _submit(executor, [item])
        try:
            [result] = future.result()
        except BrokenProcessPool:
            result = self._died(item)
        except BaseException:
            _stop(executor)
            raise
        executor.shutdown()
        return result

    def _executor(self, workers: int) -> ProcessPoolExecutor:
        # This process has no threads when it forks, and its workers find everything imported.
        method = "fork" if sys.platform == "linux" else None
        return ProcessPoolExecutor(workers, multiprocessing.get_context(method), _start, (self._function,))


def _submit(executor: ProcessPoolExecutor, chunk: list[Item]) -> Future[list[Result]]:
    """Hand over a chunk; workers that start here never see Ctrl-C, which is for the parent to deal with."""
    blocking = hasattr(signal, "pthread_sigmask")
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocking else ()
    try:
        return executor.submit(_apply, chunk)
    except BrokenProcessPool as error:
        broken: Future[list[Result]] = Future()
        broken.set_exception(error)
        return broken
    finally:
        if blocking:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _stop(executor: ProcessPoolExecutor) -> None:
    """End the processes without waiting for what they are doing."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


def _start(function: Callable[[Any], Any]) -> None:
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # as in the parent: whoever does the work collects now and then
    _function = function


def _apply(chunk: list[Any]) -> list[Any]:
    assert _function is not None
    return [_function(item) for item in chunk]
