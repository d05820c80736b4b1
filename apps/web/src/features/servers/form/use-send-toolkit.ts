/**
 * A toolkit on its way to the server. It is stored before it is reached, so leaving the form takes nothing back: that is asked for. What
 * was made is then found by its name, which is no other's, and deleted, which ends what was started for it.
 */
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { toast } from 'sonner'
import { answer, client, type Toolkit, type ToolkitBody } from '../../../lib/api.ts'
import { byId, useSaveToolkit, useToolkitList } from '../use-toolkits.ts'
import { tellProblem } from '../use-tools.ts'
import { sameName } from './field-errors.ts'

const AGAIN_MS = 200

/** What was asked of the server, which goes on when the form is gone. */
interface Sent {
  name: string
  controller: AbortController
  isOver: boolean
}

interface SendOptions {
  isSeen: (now: Toolkit) => boolean
  onSuccess: (saved: Toolkit) => void
  onError: (error: Error) => void
}

export function useSendToolkit(stored: Toolkit | undefined, onStopped: () => void) {
  const save = useSaveToolkit(stored)
  const sent = useRef<Sent>(undefined)
  const isMounted = useIsMounted()
  const stopping = useStopAdding(() => {
    sent.current?.controller.abort()
    onStopped()
  })
  const send = (name: string, json: ToolkitBody, { isSeen, ...callbacks }: SendOptions) => {
    const request: Sent = { name, controller: new AbortController(), isOver: false }
    sent.current = request
    save
      .mutateAsync({ json, isSeen, signal: request.controller.signal, isMounted }, callbacks)
      .catch(() => {})
      .finally(() => {
        request.isOver = true
      })
  }
  const stop = () => {
    const request = sent.current
    if (request && !stopping.isPending) stopping.mutate(request)
  }
  return { save, send, stop: save.isPending && !stored ? stop : undefined, isStopping: stopping.isPending }
}

function useStopAdding(done: () => void) {
  const list = useToolkitList()
  return useMutation({
    mutationFn: async (sent: Sent) => {
      const made = await findMade(sent)
      if (made) await answer(client.api.mcp[':id'].$delete(byId(made)))
      return made
    },
    onSuccess: (made, { name }) => {
      if (made) list.remove(made)
      toast.success(`${name} is not added`)
      done()
    },
    onError: tellProblem,
    onSettled: list.refresh,
  })
}

async function findMade(sent: Sent): Promise<Toolkit | undefined> {
  for (;;) {
    // Looked at before the list is asked for: what was stored by then is in it.
    const isLast = sent.isOver
    const { toolkits } = await answer(client.api.mcp.$get({ query: {} }))
    const made = toolkits.find(({ tier, name }) => tier === 'user' && sameName(name, sent.name))
    if (made || isLast) return made
    await new Promise((resolve) => window.setTimeout(resolve, AGAIN_MS))
  }
}

function useIsMounted(): () => boolean {
  const mounted = useRef(false)
  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
    }
  }, [])
  return () => mounted.current
}
