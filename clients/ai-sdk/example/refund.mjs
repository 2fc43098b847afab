// usage: node refund.mjs ID    Kill it, kill the server, start both again: the run continues.
import { tool } from 'ai';
import { localClient } from 'dormouse/local';
import { durableText } from 'dormouse-ai-sdk';
import { z } from 'zod';
import { model } from './model.mjs';

const inputSchema = z.object({ order: z.number() });
const tools = {
  // A person approves it, then it runs here.
  refund: tool({
    inputSchema,
    needsApproval: true,
    execute: async ({ order }) => {
      console.log(`refunding ${order}`);
      return { euro: 30 };
    },
  }),
  // Nothing executes it here: its result comes from outside, such as from the parcel service.
  parcel: tool({ inputSchema }),
};
const onWaiting = ({ call }) => console.log(`waiting for ${call.tool} ${call.id}`);
const settings = { model, tools, prompt: 'Refund order 42' };
const { text } = await durableText(localClient(), process.argv[2], settings, { onWaiting });
console.log(`output: ${text}`);
