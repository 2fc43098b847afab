import { HttpClient, Refusal } from 'dormouse-client';
import { parse, stringify } from './exact';

/** People approve arguments with all digits of their integers, so they are read and sent exactly. */
class ExactClient extends HttpClient {
  protected override decode(text: string): unknown {
    return parse(text);
  }
  protected override encode(value: unknown): string {
    return stringify(value);
  }
}
export const client = new ExactClient();

export interface Trouble {
  title: string;
  text: string;
  next: string;
  status: number;
  code: string;
}

/** What went wrong, for a person. */
export function trouble(error: unknown): Trouble {
  if (error instanceof Refusal) {
    const { status, problem } = error;
    if (status === 503) {
      return {
        title: 'The server cannot write at the moment',
        text: error.message,
        next: problem.next ?? '',
        status,
        code: error.code,
      };
    }
    return {
      title: problem.title ?? `The server answered ${status}`,
      text: problem.detail ?? '',
      next: problem.next ?? '',
      status,
      code: error.code,
    };
  }
  return {
    title: 'The server did not answer',
    text: 'Your connection may be lost, or the server is not running.',
    next: '',
    status: 0,
    code: 'offline',
  };
}

/** Optional requests: null where this role may not, or a newer server no longer has the route. */
export async function maybe<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Refusal && [400, 403, 404, 405].includes(error.status)) return null;
    throw error;
  }
}
