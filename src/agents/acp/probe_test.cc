// The probe that checks whether an installed program works.
#include "acp/testing/driver_fixture.h"

namespace dormouse::acp {
namespace {

using How = port::ProcessEnd::How;

class ProbeTest : public testing::DriverTest {
protected:
    std::string probed(How how, int status, bool known = true, std::string const& error = "") {
        own.argv = {"/bin/agent", "acp"};
        own.probe = Probe{"--version", known, "npm install -g agent"};
        agents = std::make_unique<ExternalAgents>(own, processes, loop);
        loop.run();
        processes.newest().done({how, status, {}, error, {}});
        return agents->unavailable();
    }
};

TEST_F(ProbeTest, Probe_ProgramFails_ReportsErrorAndRepair) {
    EXPECT_EQ(probed(How::exited, 1, true, "frame\nno libfoo, s3cr3t-value\n"),
              "Its program is broken: /bin/agent --version ended with status 1 when the server "
              "started: no libfoo, ***. Install it again (npm install -g agent), then start the "
              "server again.");
    EXPECT_NE(probed(How::signalled, 11).find("was ended by signal 11"), std::string::npos);
    EXPECT_NE(probed(How::not_started, 0).find("could not be started"), std::string::npos);
    EXPECT_EQ(processes.newest().spec.argv, (std::vector<std::string>{"/bin/agent", "--version"}));
}

TEST_F(ProbeTest, Probe_Inconclusive_ReportsNothing) {
    EXPECT_EQ(probed(How::exited, 0), "");
    EXPECT_EQ(probed(How::timed_out, 0), "");
    EXPECT_EQ(probed(How::exited, 1, false), "") << "the program may not know the option";
    EXPECT_NE(probed(How::exited, 127, false), "") << "the interpreter is missing";
}

TEST_F(ProbeTest, BrokenProgram_WorksLater_IsAvailable) {
    EXPECT_NE(probed(How::exited, 1), "");
    prompt();
    attach();
    EXPECT_EQ(taken(), "attach:new:s1");
    EXPECT_EQ(agents->unavailable(), "");
}

}  // namespace
}  // namespace dormouse::acp
