/** Whether the server has another build of this page than the one that runs here. */
class Build {
  outdated = $state(false);

  /** The name of the page's script has its hash in it, and `/index.html` names that of the server's. */
  async check(): Promise<void> {
    const mine = document.querySelector('script[type=module][src]')?.getAttribute('src');
    if (!mine || this.outdated) return;
    try {
      const answer = await fetch('/index.html', { cache: 'no-cache' });
      if (answer.ok) this.outdated = !(await answer.text()).includes(mine);
    } catch {
      // Without a connection nothing is known; the next one asks again.
    }
  }
}

export const build = new Build();
