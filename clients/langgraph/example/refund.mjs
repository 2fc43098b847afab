// usage: node refund.mjs ID    Kill it, kill the server, start both again: the run continues.
import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { localClient } from 'dormouse/local';
import { runGraph } from 'dormouse-langgraph';

const State = Annotation.Root({ order: Annotation(), euro: Annotation(), result: Annotation() });

const graph = new StateGraph(State)
  .addNode('check', ({ order }) => {
    console.log(`checking ${order}`);
    return { euro: 30 };
  })
  .addNode('refund', ({ order, euro }) => {
    const { approved, reason } = interrupt({
      question: `Refund order ${order}?`,
      tool: 'refund',
      arguments: { order, euro },
    });
    if (!approved) return { result: `denied: ${reason}` };
    console.log(`refunding ${order}`);
    return { result: `refunded ${euro} euro` };
  })
  .addNode('notify', ({ result }) => {
    const address = interrupt('Which address gets the notice?');
    return { result: `${result}, notice to ${address}` };
  })
  .addEdge(START, 'check')
  .addEdge('check', 'refund')
  .addConditionalEdges('refund', ({ result }) => (result.startsWith('denied') ? END : 'notify'))
  .addEdge('notify', END)
  .compile({ checkpointer: new MemorySaver() });

const onWaiting = ({ call }) => console.log(`waiting for ${call.id}`);
const { result } = await runGraph(
  localClient(),
  process.argv[2],
  graph,
  { order: 42 },
  { onWaiting },
);
console.log(`output: ${result}`);
