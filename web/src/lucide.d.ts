declare module 'lucide/dist/esm/icons/*' {
  import type { IconNode } from 'lucide';
  const node: IconNode;
  export default node;
}
