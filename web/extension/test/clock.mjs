// A clock that stands still until a test moves it.
export class Clock {
  #now = 0;
  #timers = new Map();
  #last = 0;

  options() {
    return {
      now: () => this.#now,
      setTimeout: (run, ms) => (this.#timers.set(++this.#last, { run, at: this.#now + ms }), this.#last),
      clearTimeout: (timer) => this.#timers.delete(timer),
    };
  }

  /** Moves on and runs what falls due, in order. */
  advance(ms) {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(([, t]) => t.at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.#now = due[1].at;
      due[1].run();
    }
    this.#now = end;
  }

  get pending() {
    return this.#timers.size;
  }
}
