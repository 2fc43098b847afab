// Many sessions, made as fast as the server takes them: on each connection requests do not wait for answers.
import { connect } from 'node:net';
import type { Server } from './server.ts';

const CONNECTIONS = 64;

function request(server: Server, number: number): string {
  const title = `Session ${String(number).padStart(6, '0')}`;
  const body = JSON.stringify({ agentID: 'demo', title });
  const head = [
    'POST /api/projects/default/sessions HTTP/1.1',
    `Host: 127.0.0.1:${server.port}`,
    `Authorization: Bearer ${server.api.token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Creates the sessions `first`, `first + CONNECTIONS`, … below `count`. */
async function createSome(server: Server, first: number, count: number): Promise<void> {
  const socket = connect(server.port, '127.0.0.1');
  const wanted = Math.ceil((count - first) / CONNECTIONS);
  const done = new Promise<void>((resolve, reject) => {
    let rest = '';
    let answered = 0;
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed after ${answered} of ${wanted}`)));
    socket.on('data', (chunk) => {
      const heads = (rest + chunk.toString('latin1')).split('HTTP/1.1 ');
      rest = `HTTP/1.1 ${heads.pop() ?? ''}`; // its status may not have come yet
      answered += heads.filter((one) => one.startsWith('201')).length;
      const bad = heads.find((one) => one !== '' && !one.startsWith('201'));
      if (bad) reject(new Error(bad));
      if (answered + 1 >= wanted && rest.includes('\r\n\r\n')) resolve();
    });
  });
  for (let number = first; number < count; number += CONNECTIONS) {
    if (!socket.write(request(server, number)))
      await new Promise((next) => socket.once('drain', next));
  }
  await done;
  socket.destroy();
}

/** Creates the sessions "Session 000000" and so on, with the demo agent. */
export async function createSessions(server: Server, count: number): Promise<void> {
  const each = Array.from({ length: CONNECTIONS }, (_, first) => createSome(server, first, count));
  await Promise.all(each);
}
