// What the tests use of Lua in JavaScript, which comes without types.
declare module 'fengari' {
  interface State {
    readonly isLua: true
  }
  export const lua: {
    readonly LUA_OK: number
    lua_pcall(state: State, args: number, results: number, handler: number): number
    lua_tojsstring(state: State, index: number): string
  }
  export const lauxlib: {
    luaL_newstate(): State
    luaL_loadstring(state: State, text: Uint8Array): number
  }
  export const lualib: { luaL_openlibs(state: State): void }
  export const to_luastring: (text: string) => Uint8Array
}
