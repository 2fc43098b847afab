import { Refusal } from 'dormouse-client';
import { client, maybe } from './api';
import { offline } from './offline';
import { forget, forgetFiles, load, save } from './storage';
import { may, type Person } from './words';

interface Answer {
  name: string;
  role: string;
  projects: string[] | null;
}

const PAGES = 5;

/** Who is signed in, and which project is shown. */
class Me implements Person {
  name = $state<string | null>(load('name', null));
  role = $state<string | null>(load('role', null));
  projects = $state<string[] | null>(load('projects', null));
  project = $state<string>(load('project', 'default'));
  /** Projects to choose from; of a person for all projects those that have sessions. */
  choices = $state.raw<string[]>([]);
  /** False once the server has refused: the page leads to the sign-in. */
  signedIn = $state(true);
  /** True once the server has said who is signed in: until then it may be another person than before. */
  known = $state(false);
  keys = $state<boolean>(load('keys', true));
  compact = $state<boolean>(load('compact', false));

  private signedOut(): void {
    this.signedIn = false;
    void forgetFiles();
    void this.forgetSessions();
  }

  /** What this browser keeps of sessions: they are for the person who was signed in. */
  private forgetSessions(): Promise<void> {
    forget('list:');
    return offline.clear();
  }

  async refresh(): Promise<void> {
    try {
      const response = await client.raw('/api/me', { headers: { accept: 'application/json' } });
      if (response.status === 401) this.signedOut();
      if (!response.ok) return;
      this.know((await response.json()) as Answer);
      await this.readChoices();
    } catch {
      // Without a connection what was known stays.
    }
  }

  know(answer: Answer): void {
    if (this.name !== null && this.name !== answer.name) return void this.replace(answer.name);
    this.known = true;
    // The page ended before it had removed everything.
    if (this.name !== answer.name) void this.forgetSessions();
    this.name = answer.name;
    this.role = answer.role;
    this.projects = answer.projects;
    this.signedIn = true;
    navigator.serviceWorker?.controller?.postMessage('keep');
    save('name', answer.name);
    save('role', answer.role);
    save('projects', answer.projects);
    const first = answer.projects?.[0];
    if (first && !answer.projects?.includes(this.project)) this.choose(first);
  }

  /** Another person has signed in: nothing that was typed or kept here is theirs. */
  private async replace(name: string): Promise<void> {
    forget();
    save('name', name);
    await this.forgetSessions();
    location.reload();
  }

  private async readChoices(): Promise<void> {
    const found: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES; page += 1) {
      const list = await client.call('listProjects', { query: { limit: 200, cursor } });
      found.push(...list.items.map((one) => one.id));
      cursor = list.next ?? undefined;
      if (!cursor) break;
    }
    if (!found.includes(this.project)) found.push(this.project);
    this.choices = found.sort();
  }

  sees(project: string): boolean {
    return this.projects === null || this.projects.includes(project);
  }

  choose(project: string): void {
    if (!this.choices.includes(project)) this.choices = [...this.choices, project].sort();
    this.project = project;
    save('project', project);
  }

  may(needed: string): boolean {
    return may(this.role, needed);
  }

  async signOut(): Promise<void> {
    // First what is kept: once the server has answered, the page leads to the sign-in.
    await forgetFiles();
    await this.forgetSessions();
    forget();
    await maybe(client.call('signOut' as never));
    location.assign('/sign-in');
  }

  /** Whether an error says that nobody is signed in. */
  refused(error: unknown): boolean {
    const gone = error instanceof Refusal && error.status === 401;
    if (gone) this.signedOut();
    return gone;
  }
}

export const me = new Me();
