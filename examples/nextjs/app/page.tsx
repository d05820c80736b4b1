'use client'

/** A chat whose tools come from servers that its user brings: their address is all that is asked for. */
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { type FormEvent, useCallback, useEffect, useState } from 'react'

interface Server {
  id: string
  name: string
  state: { status: string; reason?: string }
  toolCount: number
}
interface Question {
  id: string
  ref: string
  status: string
}

const post = (path: string, body: object) =>
  fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const transport = new DefaultChatTransport({ api: '/tools/api/threads/chat/messages' })

export default function Page() {
  const { messages, sendMessage, status, error } = useChat({ transport })
  const ask = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const text = String(new FormData(form).get('text'))
    form.reset()
    // The first time there is no such thread; later that it is there is no matter.
    await post('/tools/api/threads', { id: 'chat' })
    await sendMessage({ text })
  }
  return (
    <main>
      <Servers />
      {messages.map(({ id, role, parts }) => (
        <article key={id}>
          <b>{role}</b>
          {parts.map((part, index) => {
            const key = `${id} ${index}`
            if (part.type === 'text') return <p key={key}>{part.text}</p>
            if (part.type === 'dynamic-tool') return <p key={key}>{`It calls ${part.toolName}.`}</p>
            if (part.type !== 'data-approval' || !('data' in part)) return null
            return <Approval key={key} question={(part.data as { approval: Question }).approval} />
          })}
        </article>
      ))}
      <form onSubmit={(event) => void ask(event)}>
        <input name="text" aria-label="What to ask" disabled={status !== 'ready'} required />
      </form>
      <p role="alert">{error?.message}</p>
    </main>
  )
}

function Approval({ question: { id, ref, status } }: { question: Question }) {
  if (status !== 'pending') return <p>{`${ref}: ${status}`}</p>
  const answer = (decision: 'allow' | 'deny') => void post(`/tools/api/approvals/${id}/answer`, { decision })
  return (
    <p>
      {`May it call ${ref}? `}
      <button type="button" onClick={() => answer('allow')}>
        Yes
      </button>
      <button type="button" onClick={() => answer('deny')}>
        No
      </button>
    </p>
  )
}

function Servers() {
  const [servers, setServers] = useState<Server[]>([])
  const [problem, setProblem] = useState('')
  const load = useCallback(async () => setServers((await (await fetch('/tools/api/mcp')).json()).toolkits), [])
  useEffect(() => void load(), [load])
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const answer = await post('/tools/api/mcp', Object.fromEntries(new FormData(event.currentTarget)))
    const { detail = '', action = '' } = answer.ok ? {} : await answer.json()
    setProblem(`${detail} ${action}`.trim())
    await load()
  }
  return (
    <section>
      <h1>Your servers</h1>
      <ul>
        {servers.map(({ id, name, state, toolCount }) => (
          <li key={id}>{`${name}: ${state.status}, ${toolCount} tools ${state.reason ?? ''}`}</li>
        ))}
      </ul>
      <form onSubmit={(event) => void add(event)}>
        <input name="name" aria-label="Name" required />
        <input name="url" aria-label="Address" type="url" required />
        <button type="submit">Add</button>
      </form>
      <p role="alert">{problem}</p>
    </section>
  )
}
