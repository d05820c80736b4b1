/** Search over a list of tools, without a host. */
export {
  createToolIndex,
  type ListedTool,
  type ListHit,
  type ListQuery,
  readTools,
  search,
  type ToolIndex,
  type ToolIndexOptions,
  type ToolListInput,
} from './search/tool-list-search.ts'
