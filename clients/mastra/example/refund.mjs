// usage: node refund.mjs ID    Kill it, kill the server, start both again: the run continues.
import { Mastra } from '@mastra/core';
import { InMemoryStore } from '@mastra/core/storage';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { localClient } from 'dormouse/local';
import { runWorkflow } from 'dormouse-mastra';
import { z } from 'zod';

const order = z.object({ order: z.number(), euro: z.number() });
const check = createStep({
  id: 'check',
  inputSchema: z.object({ order: z.number() }),
  outputSchema: order,
  execute: async ({ inputData }) => {
    console.log(`checking ${inputData.order}`);
    return { order: inputData.order, euro: 30 };
  },
});
const refund = createStep({
  id: 'refund',
  inputSchema: order,
  outputSchema: z.object({ result: z.string() }),
  resumeSchema: z.object({ approved: z.boolean(), reason: z.string().optional() }),
  execute: async ({ inputData, resumeData, suspend }) => {
    const question = `Refund order ${inputData.order}?`;
    if (!resumeData) return suspend({ question, tool: 'refund', arguments: inputData });
    if (!resumeData.approved) return { result: `denied: ${resumeData.reason}` };
    console.log(`refunding ${inputData.order}`);
    return { result: `refunded ${inputData.euro} euro` };
  },
});
const notify = createStep({
  id: 'notify',
  inputSchema: z.object({ result: z.string() }),
  outputSchema: z.object({ result: z.string() }),
  resumeSchema: z.string(),
  execute: async ({ inputData, resumeData, suspend }) => {
    if (inputData.result.startsWith('denied')) return inputData;
    if (!resumeData) return suspend({ question: 'Which address gets the notice?', kind: 'answer' });
    return { result: `${inputData.result}, notice to ${resumeData}` };
  },
});
const workflow = createWorkflow({
  id: 'refunds',
  inputSchema: z.object({ order: z.number() }),
  outputSchema: z.object({ result: z.string() }),
})
  .then(check)
  .then(refund)
  .then(notify)
  .commit();
const mastra = new Mastra({
  workflows: { refunds: workflow },
  storage: new InMemoryStore(),
  logger: false,
});

const onWaiting = ({ call }) => console.log(`waiting for ${call.id}`);
const { result } = await runWorkflow(
  localClient(),
  process.argv[2],
  mastra.getWorkflow('refunds'),
  { order: 42 },
  { onWaiting },
);
console.log(`output: ${result}`);
process.exit(0);
