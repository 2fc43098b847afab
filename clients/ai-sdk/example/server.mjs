// usage: node server.mjs PORT    The route of a chat: POST /api/chat, GET /api/chat/ID/stream.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { localClient } from 'dormouse/local';
import { chatHandler } from 'dormouse-ai-sdk';

const handler = chatHandler(localClient());
const server = createServer(async (request, reply) => {
  const gone = new AbortController();
  reply.on('close', () => gone.abort());
  const body = request.method === 'POST' ? Readable.toWeb(request) : undefined;
  const url = `http://${request.headers.host}${request.url}`;
  const { method, headers } = request;
  const answer = await handler(
    new Request(url, { method, headers, body, duplex: 'half', signal: gone.signal }),
  );
  reply.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body)
    Readable.fromWeb(answer.body)
      .on('error', () => reply.destroy())
      .pipe(reply);
  else reply.end();
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () =>
  console.log(`listening on ${server.address().port}`),
);
