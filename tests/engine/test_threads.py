import threading

from mcpconnect.engine.threads import Threads

WAIT = 10.0


def test_work_runs_in_another_thread() -> None:
    threads = Threads(2)
    ran_in: list[str] = []
    done = threading.Event()

    def work() -> None:
        ran_in.append(threading.current_thread().name)
        done.set()

    threads.submit(work)
    assert done.wait(WAIT)
    assert ran_in == ["mcpconnect worker"]
    threads.close()


def test_a_blocked_thread_keeps_its_place_and_the_limit_holds() -> None:
    threads = Threads(2)
    release = threading.Event()
    started = threading.Semaphore(0)
    count = 0
    most = 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal count, most
        with lock:
            count += 1
            most = max(most, count)
        started.release()
        release.wait(WAIT)
        with lock:
            count -= 1

    for _ in range(5):
        threads.submit(work)
    assert started.acquire(timeout=WAIT)
    assert started.acquire(timeout=WAIT)
    assert not started.acquire(timeout=0.05)
    release.set()
    for _ in range(3):
        assert started.acquire(timeout=WAIT)
    assert most == 2
    threads.close()


def test_idle_threads_are_used_again() -> None:
    threads = Threads(10)
    names: set[int] = set()
    for _ in range(20):
        done = threading.Event()

        def work(done: threading.Event = done) -> None:
            names.add(threading.get_ident())
            done.set()

        threads.submit(work)
        assert done.wait(WAIT)
    assert len(names) < 10
    threads.close()


def test_idle_threads_end_when_closed() -> None:
    threads = Threads(3)
    seen: list[threading.Thread] = []
    done = threading.Event()
    threads.submit(lambda: (seen.append(threading.current_thread()), done.set()))
    assert done.wait(WAIT)
    threads.close()
    seen[0].join(WAIT)
    assert not seen[0].is_alive()


def test_work_that_raises_takes_no_thread_away() -> None:
    threads = Threads(1)
    done = threading.Event()
    for error in (ValueError, SystemExit, KeyboardInterrupt):

        def work(error: type[BaseException] = error) -> None:
            raise error

        threads.submit(work)
    threads.submit(done.set)
    assert done.wait(WAIT)
    threads.close()


def test_one_that_stands_aside_is_replaced_and_takes_its_place_back() -> None:
    threads = Threads(1)
    aside, back, end = threading.Event(), threading.Event(), threading.Event()
    other, third = threading.Event(), threading.Event()
    resumed = threading.Event()

    def waits() -> None:
        with threads.aside():
            aside.set()
            back.wait(WAIT)
        resumed.set()
        end.wait(WAIT)

    threads.submit(waits)
    assert aside.wait(WAIT)
    threads.submit(other.set)
    assert other.wait(WAIT)
    back.set()
    assert resumed.wait(WAIT)
    threads.submit(third.set)
    assert not third.wait(0.05)
    end.set()
    assert third.wait(WAIT)
    threads.close()


def test_work_that_waits_begins_when_another_stands_aside() -> None:
    threads = Threads(1)
    began, go, other = threading.Event(), threading.Event(), threading.Event()

    def waits() -> None:
        began.set()
        go.wait(WAIT)
        with threads.aside():
            assert other.wait(WAIT)

    threads.submit(waits)
    assert began.wait(WAIT)
    threads.submit(other.set)
    go.set()
    assert other.wait(WAIT)
    threads.close()


def test_who_is_no_worker_takes_no_place() -> None:
    threads = Threads(1)
    release, began = threading.Event(), threading.Semaphore(0)

    def work() -> None:
        began.release()
        release.wait(WAIT)

    with threads.aside():
        threads.submit(work)
        threads.submit(work)
        assert began.acquire(timeout=WAIT)
        assert not began.acquire(timeout=0.05)
    release.set()
    assert began.acquire(timeout=WAIT)
    threads.close()
