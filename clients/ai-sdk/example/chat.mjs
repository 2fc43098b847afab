// usage: node chat.mjs PORT SESSION COMMAND…   What a page does with useChat, without a page.
//   send TEXT | approve | deny REASON | resume
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { localClient } from 'dormouse/local';
import { loadMessages } from 'dormouse-ai-sdk';

const [port, id, command, text] = process.argv.slice(2);
const chat = new Chat({
  id,
  messages: await loadMessages(localClient(), id),
  transport: new DefaultChatTransport({ api: `http://127.0.0.1:${port}/api/chat` }),
});
if (command === 'send') await chat.sendMessage({ text });
else await chat.resumeStream();
if (command === 'approve' || command === 'deny') {
  const part = chat.lastMessage.parts.find(({ state }) => state === 'approval-requested');
  const approved = command === 'approve';
  await chat.addToolApprovalResponse({ id: part.approval.id, approved, reason: text });
  await chat.sendMessage();
}
const shown = chat.messages.flatMap(({ role, parts }) =>
  parts.map((part) => `${role} ${part.text ?? part.state ?? part.type}`),
);
console.log(JSON.stringify({ status: chat.status, error: chat.error?.message ?? null, shown }));
