/** The time that the page shows, once a second; tests and screenshots may stop it. */
class Clock {
  now = $state(Date.now());
  private offset = 0;

  constructor() {
    setInterval(() => this.tick(), 1000);
  }
  tick(): void {
    this.now = Date.now() + this.offset;
  }
  /** Shows the page as of another time. */
  set(at: number): void {
    this.offset = at - Date.now();
    this.tick();
  }
}

export const time = new Clock();
