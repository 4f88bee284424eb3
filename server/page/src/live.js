// patience is how long a question may take, in ms, before a newer one replaces it. It
// is long enough for answers to follow a hand that keeps moving, one after the other.
const patience = 1500;

// Live asks the server again whenever what is on the screen changes, and shows only
// answers that are still wanted. One question is under way at a time; of those that
// come in meanwhile the latest waits, and the others are forgotten.
export class Live {
  #next;
  #running;
  #frame;

  // ask(question, signal) promises an answer; show(answer, question) and
  // fail(error, question) end it; busy(true or false) tells of questions under way.
  constructor({ask, show, fail, busy}) {
    Object.assign(this, {ask, show, fail, busy});
  }

  request(question) {
    this.#next = {question};
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#start();
    });
  }

  // forget drops what is under way.
  forget() {
    this.#next = undefined;
    this.#running?.controller.abort();
  }

  async #start() {
    if (!this.#next) return;
    if (this.#running) {
      const {controller, since} = this.#running;
      setTimeout(() => this.#next && controller.abort(), Math.max(0, since + patience - performance.now()));
      return;
    }
    const {question} = this.#next;
    this.#next = undefined;
    const controller = new AbortController();
    this.#running = {controller, since: performance.now()};
    this.busy(true);
    let settle = () => {};
    try {
      const answer = await this.ask(question, controller.signal);
      settle = () => this.show(answer, question);
    } catch (error) {
      if (error.name !== "AbortError") settle = () => this.fail(error, question);
    }
    this.#running = undefined;
    if (!this.#next) this.busy(false);
    if (!controller.signal.aborted) settle();
    this.#start();
  }
}
