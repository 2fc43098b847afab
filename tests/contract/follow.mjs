// Follows an event stream with npm's eventsource, which reconnects by itself. Prints one line of
// JSON for every event that has an id, and for each opening of the stream.
// usage: node follow.mjs URL TYPE...   (the token is in $TOKEN)
import { EventSource } from 'eventsource'

const [url, ...types] = process.argv.slice(2)
const source = new EventSource(url, {
  fetch: (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...init.headers, Authorization: `Bearer ${process.env.TOKEN}` },
    }),
})
const say = (what) => process.stdout.write(JSON.stringify(what) + '\n')
source.onopen = () => say({ open: true })
for (const type of types) {
  source.addEventListener(type, (event) =>
    say({ id: event.lastEventId, type: event.type, seq: JSON.parse(event.data).seq }),
  )
}
