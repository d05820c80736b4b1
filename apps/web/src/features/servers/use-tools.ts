/** Tool mutations: refresh, accept, switch, override and policy. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client, problemOf, type Toolkit } from '../../lib/api.ts'
import { counted } from '../../ui/data/format-time.ts'
import { reasonOf } from './list/toolkit-state.tsx'
import { toolGrantsQuery, userRulesQuery } from './queries.ts'
import { NOTHING, type OverrideDraft, overridesWith } from './tools/tool-override.ts'
import { type Choice, grantFor, rulesWith } from './tools/tool-policy.ts'
import { switchBody } from './tools/tool-switch.ts'
import { byId, useToolkitList } from './use-toolkits.ts'

type Tool = Toolkit['tools'][number]

export function tellProblem(error: unknown): void {
  const { title, detail, action } = problemOf(error)
  toast.error(title, { description: `${detail} ${action}` })
}

/** `reconnect` closes the open connection first. */
export function useRefreshTools() {
  const list = useToolkitList()
  return useMutation({
    mutationFn: ({ toolkit, reconnect }: { toolkit: Toolkit; reconnect: boolean }) =>
      answer(client.api.mcp[':id'].introspect.$post({ ...byId(toolkit), query: { reconnect: `${reconnect}` } })),
    onSuccess: (found, { reconnect }) => {
      list.put(found)
      const { status } = found.state
      if (status === 'error') toast.error(`${found.name} could not be reached`, { description: reasonOf(found.state) })
      else if (status !== 'sign-in-needed')
        toast.success(reconnect ? `${found.name} is connected` : 'Tools refreshed', {
          description: `${counted(found.toolCount, 'tool')}.`,
        })
    },
    onError: tellProblem,
    onSettled: list.refresh,
  })
}

/** Accepts one tool with its shown pin, or all tools. */
export function useAccept() {
  const list = useToolkitList()
  return useMutation({
    mutationFn: ({ toolkit, tool }: { toolkit: Toolkit; tool?: Toolkit['tools'][number] | undefined }) =>
      answer(
        client.api.mcp[':id'].accept.$post({
          ...byId(toolkit),
          json: tool ? { tool: tool.name, pin: tool.pin } : { all: true },
        }),
      ),
    onSuccess: (found, { tool }) => {
      list.put(found)
      toast.success(tool ? `${tool.name} accepted` : 'All tools accepted')
    },
    onError: tellProblem,
    onSettled: list.refresh,
  })
}

export function useSwitchTools() {
  const list = useToolkitList()
  return useMutation({
    mutationFn: ({ toolkit, names, on }: { toolkit: Toolkit; names: readonly string[]; on: boolean }) =>
      answer(client.api.mcp[':id'].$patch({ ...byId(toolkit), json: switchBody(toolkit, names, on) })),
    onMutate: ({ toolkit, names, on }) => {
      const wanted = new Set(names)
      const tools = toolkit.tools.map((tool) => (wanted.has(tool.name) ? { ...tool, enabled: on } : tool))
      list.put({ ...toolkit, tools })
    },
    onSuccess: list.put,
    onError: (error, { toolkit }) => {
      list.put(toolkit)
      tellProblem(error)
    },
    onSettled: list.refresh,
  })
}

/** Reads overrides before writing, because all overrides are one field and may have changed. */
export function useOverride() {
  const list = useToolkitList()
  return useMutation({
    mutationFn: async ({ toolkit, tool, draft }: { toolkit: Toolkit; tool: Tool; draft: OverrideDraft }) => {
      const { options } = await answer(client.api.mcp[':id'].$get(byId(toolkit)))
      const overrides = overridesWith(options.overrides, tool.name, draft)
      return answer(client.api.mcp[':id'].$patch({ ...byId(toolkit), json: { overrides } }))
    },
    onSuccess: (saved, { tool, draft }) => {
      list.put(saved)
      toast.success(draft === NOTHING ? `${tool.name} is as its server says` : `${tool.name} saved`)
    },
    onSettled: list.refresh,
  })
}

/** Reads rules before writing, because all rules are one list and may have changed. */
export function useSetToolPolicy() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ ref, choice }: { ref: string; choice: Choice }) => {
      const [{ rules }, { items }] = await Promise.all([
        answer(client.api.policy.own.$get()),
        answer(client.api.grants.$get()),
      ])
      const grant = grantFor(items, ref)
      const wanted = rulesWith(rules, ref, choice)
      if (JSON.stringify(wanted) !== JSON.stringify(rules))
        await answer(client.api.policy.own.$put({ json: { rules: wanted } }))
      if (grant && choice !== 'allow') await answer(client.api.grants[':id'].$delete({ param: { id: grant.id } }))
      if (choice === 'allow' && grant?.decision !== 'allow')
        await answer(client.api.grants.$post({ json: { ref, decision: 'allow' } }))
    },
    onError: tellProblem,
    onSettled: async () => {
      await Promise.all([
        queryClient.invalidateQueries(userRulesQuery()),
        queryClient.invalidateQueries(toolGrantsQuery()),
        queryClient.invalidateQueries({ queryKey: ['tools', 'decisions'] }),
      ])
    },
  })
}
