// A model that gets what to say and when: each piece but the first waits for a ticket.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const PIECES = [
  'The first piece, ',
  'the second piece, ',
  'the third piece, ',
  'and the end.',
];

/** A call of a tool; a text is the JSON of its arguments as it is sent. */
export interface Wanted {
  tool: string;
  input: unknown;
}

function wants({ tool, input }: Wanted): object {
  const call = { name: tool, arguments: typeof input === 'string' ? input : JSON.stringify(input) };
  return { tool_calls: [{ index: 0, id: `call_${tool}`, type: 'function', function: call }] };
}

export class Provider {
  /** What it says to a prompt; the pieces are as they are unless a test says something else. */
  says: (request: string) => (string | Wanted)[] = () => PIECES;
  /** It answers that a request is wrong, which is not tried again. */
  refuses = false;
  requests: string[] = [];
  private tickets = 0;
  private waiting: (() => void)[] = [];
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.release(1000);
    this.server.closeAllConnections();
    this.server.close();
  }

  release(count = 1): void {
    for (let given = 0; given < count; given += 1) {
      const next = this.waiting.shift();
      if (next) next();
      else this.tickets += 1;
    }
  }

  private ticket(): Promise<void> {
    if (this.tickets > 0) {
      this.tickets -= 1;
      return Promise.resolve();
    }
    return new Promise((done) => this.waiting.push(done));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    this.requests.push(body);
    if (this.refuses) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'The test refuses this.' } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (delta: object, finish: string | null = null): void => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      const whole = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
      response.write(`data: ${JSON.stringify(whole)}\n\n`);
    };
    const pieces = this.says(body);
    for (const [number, piece] of pieces.entries()) {
      if (number > 0) await this.ticket();
      if (response.destroyed) return; // the server was killed
      chunk({
        role: 'assistant',
        ...(typeof piece === 'string' ? { content: piece } : wants(piece)),
      });
    }
    chunk({}, pieces.some((one) => typeof one !== 'string') ? 'tool_calls' : 'stop');
    response.end('data: [DONE]\n\n');
  }
}
