#pragma once
// The process of `dormouse serve`: a node with the agents of the configuration, and HTTP on it.
// server.cc has its life, server_parts.cc what its parts need of it, server_reload.cc a new
// configuration.

#include "app/parts/archive_sweeps.h"
#include "app/parts/copies.h"
#include "app/parts/indexes.h"
#include "app/parts/means.h"
#include "app/parts/telemetry.h"
#include "app/parts/world.h"
#include "app/reload.h"
#include "app/start/address_file.h"
#include "app/start/prepare.h"
#include "app/start/secrets.h"
#include "io/http/mail_client.h"
#include "io/memory_reserve.h"
#include "io/process/service_manager.h"
#include "io/starts.h"
#include "mcp_client/servers.h"
#include "mcp_client/sign_in/records.h"
#include "serve/serving.h"

#include <memory>
#include <string>
#include <vector>

namespace dormouse::app {

class Server {
public:
    // `services`, `reserve`, `manager` and `options` outlive this.
    Server(ServerServices& services, io::MemoryReserve& reserve, io::ServiceManager& manager,
           cli::ServeOptions const& options, Prepared prepared, Secrets const& secrets,
           runtime::OpenedStore opened, http::WebFiles web_files);
    ~Server();
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;
    // `listener` as for serve::Serving.
    int run(int listener);

private:
    void begin();
    [[nodiscard]] ArchiveSweeps::Services archive_services();
    // Arguments to make the registry. They outlive HTTP: afterwards they do nothing.
    [[nodiscard]] ToolServices tool_services();
    // `dormouse mcp` for the external agent of this session, with a token of its own. With TLS it
    // must use the name of the certificate.
    [[nodiscard]] std::vector<acp::McpServer> own_tools(SessionId const& session);
    // Empty: the store is in memory.
    [[nodiscard]] std::string data_directory() const;
    [[nodiscard]] http::ServerFacts facts() const;
    // The URL at which a program on this machine reaches the server.
    [[nodiscard]] std::string loopback_url() const;
    [[nodiscard]] std::unique_ptr<mcp_client::Records> sign_in_records(Secrets const& secrets);
    [[nodiscard]] mcp_client::SignInServices sign_in_services();
    // Reads the sign-ins at other servers from now on, if there is an MCP server to sign in to.
    void follow_sign_ins();
    // Links are made from public_url, never from a request's headers.
    [[nodiscard]] webhook::Pump::Options pump_options();
    void report(port::IndexStatus const& index);
    void watch_validators();
    // Notifies an external agent that one of its sessions was deleted
    // (webhook::Letter::Kind::program).
    void forget(port::OutboxRow const& row, json::View body, webhook::Pump::Options::Done done);
    void announce();
    [[nodiscard]] Result<void> listen_for_metrics();
    // Calls `done` after the store has done its queued work and what followed from it, `rounds`
    // times.
    void settle(int rounds, port::Fn<void()> done);
    void hang_up();
    // The certificate is read again whatever the configuration has.
    void reload(Reloads::Done done);
    // Returns a warning; empty: none.
    [[nodiscard]] std::string reload_certificate();
    [[nodiscard]] Result<void> may_reload() const;
    // Work under way ends with the configuration that it began with.
    [[nodiscard]] Result<http::ReloadReport> apply(config::Config const& read);
    // A second signal ends the process at once.
    void stop(int status);
    // Its own writes are refused by now; a new start waits until the other process has ended.
    void lost_store();
    // P10: after a failed sync nothing is written any more; a new process reads what the disk
    // really holds.
    void fail_stop();
    void end_at_once(std::string const& why);

    ServerServices& services_;
    io::ServiceManager& manager_;
    cli::ServeOptions const& options_;
    config::Config config_;                              // in force
    std::unique_ptr<io::TlsServer> const tls_;           // null: plain HTTP
    std::unique_ptr<io::SmtpClient> const mail_client_;  // null: no e-mail is sent
    serve::Serving* serving_ = nullptr;                  // owned by node_
    std::vector<std::string> const store_warnings_;
    runtime::Node node_;
    std::unique_ptr<mcp_client::Records> const sign_ins_;  // to MCP servers
    mcp_client::Servers foreign_;
    io::Starts starts_;
    Indexes indexes_;
    std::unique_ptr<Telemetry> const telemetry_;  // null: nothing is traced
    Copies copies_;
    ArchiveSweeps archive_;
    AddressFile address_file_{options_.data};
    bool begun_ = false;
    bool stopping_ = false;
    int status_ = 0;
    Reloads reloads_;
};

}  // namespace dormouse::app
