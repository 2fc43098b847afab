// usage: node refund.mjs ID    Kill it, kill the server, start both again: the run continues.
import { Agent, setTracingDisabled, tool } from '@openai/agents';
import { localClient } from 'dormouse/local';
import { runAgent } from 'dormouse-openai-agents';
import { z } from 'zod';
import { model } from './model.mjs';

setTracingDisabled(true);
const refund = tool({
  name: 'refund',
  description: 'Gives money back.',
  parameters: z.object({ order: z.number(), euro: z.number() }),
  needsApproval: true,
  execute: async ({ order, euro }) => {
    console.log(`refunding ${order}`);
    return `refunded ${euro} euro`;
  },
});
const agent = new Agent({ name: 'Shop', instructions: 'Help.', tools: [refund], model });
const onWaiting = ({ call }) => console.log(`waiting for ${call.id}`);
const output = await runAgent(localClient(), process.argv[2], agent, 'Refund order 42', {
  onWaiting,
});
console.log(`output: ${output}`);
